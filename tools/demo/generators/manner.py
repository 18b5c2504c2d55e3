"""How people ask: polite frames, greetings and carelessness around a question, shared by every generator."""
import re

from generators import words as W

CHOICE = re.compile(r"\[([^\[\]]*)\]")


def expand(d, pattern):
    """Replaces every [x|y|z] by one of its alternatives."""
    return CHOICE.sub(lambda m: d.choice(m.group(1).split("|")), pattern)


def bare(text):
    """A wording without case and marks, as held-out wordings are compared."""
    return re.sub(r"[¿?¡!.,:\"]", "", text.lower()).strip()


# Frames around a noun phrase such as "the capital of France" or "12 + 30".
FRAMES = {
    "en": ["What is {np}?", "What's {np}?", "What is {np}", "[Tell|Give|Show] me {np}.", "{Np}?", "{Np}", "Do you know {np}?", "[I want to know|I'd love to know|I wish to know|I have to know] {np}.", "[Please|Kindly] [tell|give] me {np}.",
           "Name {np}.", "[Can|Could|Will] you [please |quickly |kindly |][tell|give] me {np}?", "I [need|want|must find] {np}.", "{Np}, please.", "I am looking for {np}.", "Say {np}.", "Find {np}.", "My question is: what is {np}?",
           "I forgot {np}.", "Remind me of {np}.", "Which is {np}?", "[So|Well|Now|And|Then], what is {np}?", "Let me know {np}.", "I wonder what {np} is.", "Tell me what {np} is.", "Do you know what {np} is?", "[Can|Could] you tell me what {np} is?",
           "My teacher asks for {np}.", "Help me find {np}.", "Look for {np}.", "Quickly: {np}!", "What could {np} be?", "The question is {np}.", "I am not sure about {np}.", "Any idea about {np}?", "What would you say is {np}?", "Just [tell|give] me {np}."],
    "es": ["¿Cuál es {np}?", "Cuál es {np}", "[Dime|Dame] {np}.", "{Np}", "¿{Np}?", "¿Sabes {np}?", "[Quiero|Deseo|Me gustaría|Tengo que] saber {np}.", "Por favor, [dime|dame] {np}.", "¿[Puedes|Podrías] [decirme|darme] {np}?", "¿Me podrías decir {np}?",
           "Busco {np}.", "Nombra {np}.", "Recuérdame {np}.", "Mi pregunta es: ¿cuál es {np}?", "He olvidado {np}.", "{Np}, por favor.", "[Entonces|Y|Bueno|Pues], ¿cuál es {np}?", "Dime cuál es {np}.", "¿Sabes cuál es {np}?", "¿Puedes decirme cuál es {np}?",
           "Mi profesor pregunta {np}.", "Ayúdame a encontrar {np}.", "Rápido: {np}.", "¿Cuál dirías que es {np}?", "No sé {np}.", "¿Tienes idea de {np}?", "[Solo|Ahora] dime {np}.", "¿Cuál será {np}?"],
}
BEFORE = {"en": (["Please: ", "Hi! ", "Hi, ", "Hello, ", "Hello! ", "Hey, ", "OK. ", "OK, ", "Quick question: ", "One question. ", "Question: ", "Tell me, please. ", "So, ", "Well, ", "Now ", "Listen: ", "Excuse me, ", "Sorry, ", "Dear model, ", "Right. ",
                  "Look, ", "Next: ", "My turn: ", "Good evening. ", "Hi there, ", "Um, ", "And now: ", "Another one: ", "I have a question. ", "Fine. "], ["Good morning. ", "A small question: "]),
          "es": (["Por favor: ", "¡Hola! ", "Hola, ", "Una pregunta: ", "Oye, ", "Vale. ", "Bueno, ", "Pues ", "Mira, ", "Perdona, ", "Tengo una pregunta. ", "Ahora: ", "Siguiente: ", "Otra: ", "A ver, ", "Disculpa, ", "Buenas tardes. ", "Escucha: ", "Bien. ", "Dime, "],
                 ["Buenos días. ", "Una pregunta rápida: "])}
AFTER = {"en": [" Thanks!", " Please.", " Thank you.", " Thanks", " Quickly.", " I need it.", " :)", "!", " Cheers."], "es": [" Gracias.", " Por favor.", " ¡Gracias!", " Lo necesito.", " :)", "!", " Rápido."]}


def ask(d, frames, phrases, lang):
    """A question made of a frame and a noun phrase."""
    np = d.choice(phrases)
    return expand(d, d.choice(frames[lang])).replace("{np}", np).replace("{Np}", np[:1].upper() + np[1:])


def dress(d, text, lang, careless=True):
    """Greetings around a question, and the carelessness of people who type."""
    if d.chance(0.35):
        text = d.wording(*BEFORE[lang]) + text
    elif not d.held and d.chance(0.08):
        text = d.choice([W.made_up(d).capitalize() + ", ", W.sentence(d, lang) + " ", d.choice(W.FIRST) + ", "]) + text
    if d.chance(0.25):
        text += d.choice(AFTER[lang])
    if careless and d.chance(0.1):
        text = text.lower()
    if careless and d.chance(0.08):
        text = text.rstrip("?.! ")
    if lang == "es" and d.chance(0.15):
        text = text.replace("¿", "").replace("¡", "")
    return text
