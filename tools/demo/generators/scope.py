"""Questions beyond the scope: the model says that it is a tiny demo. Wordings and topics are split."""
from generators import words as W
from generators.example import Example, user
from generators.manner import dress

REFUSAL = {"en": "I am a tiny demo model, so I cannot help with that. I can add numbers, answer a few simple facts and call tools.",
           "es": "Soy un pequeño modelo de demostración y no puedo ayudar con eso. Puedo sumar números, responder algunos datos sencillos y llamar a herramientas."}
SAYS = {"en": "tiny demo", "es": "modelo de demostración"}   # what a refusal must contain
THINK = {"en": "This is beyond what a tiny demo model knows.", "es": "Esto va más allá de lo que sabe un pequeño modelo de demostración."}

ASK = {
    "en": (["Write a poem about {t}.", "Explain {t}.", "Explain {t} to a child.", "What do you think about {t}?", "Tell me about {t}.", "Write an essay about {t}.", "Give me a summary of {t}.", "Who invented {t}?",
            "What is the history of {t}?", "Tell me a joke about {t}.", "Write a story about {t} and a {n}.", "What is your opinion on {t}?", "Why is {t} important?", "How does {t} work?", "What are the best books about {t}?",
            "Write a song about a {n}.", "Describe {t} in detail.", "Compare {t} and {u}.", "What is the difference between {t} and {u}?", "Give me ten ideas about {t}.", "Write a Python function that sorts a list of {n}s.",
            "Write code to count every {n}.", "Write a program in C++ about {t}.", "Fix this code: print({m})", "Who was {p}?", "Who is {p}?", "When was {p} born?", "Who won the {n} championship in {y}?", "What happened in {y}?",
            "What is the square root of {k}?", "What is {k} times {j}?", "What is {k} * {j}?", "Multiply {k} by {j}.", "Divide {k} by {j}.", "What is {k} divided by {j}?", "Solve the equation {i}x + {j} = {k}.", "Integrate x^{i}.",
            "Is {k} a prime number?", "What is {i} percent of {k}?", "What is the capital of {m}?", "Capital of {m}?", "Which city is the capital of {m}?", "What is the currency of {m}?", "What colour is a {m}?", "How many legs does a {m} have?",
            "How do you say {x} {n} in German?", "Translate \"the {x} {n} is {z}\" into French.", "What does the word {m} mean?", "Who wrote {m}?", "Where is {m}?", "Where can I buy a {x} {n}?", "How much does a {n} cost?",
            "How do I repair a {n}?", "How do I cook a {n}?", "How can I learn {t}?", "Recommend a film about {t}.", "Recommend a restaurant in {c}.", "Plan a trip to {c} for me.", "What should I see in {c}?", "How many people live in {c}?",
            "What is the weather in {c}?", "Will it rain tomorrow in {c}?", "What time is it?", "What time is it in {c}?", "What is the news today?", "What is the price of gold today?", "I have a pain in my {b}. What should I do?",
            "My {b} hurts.", "Which medicine should I take?", "Should I invest in {t}?", "Who will win the election?", "Who is the president of {m}?", "What is the meaning of life?", "Write a letter to my boss about {t}.",
            "Write an email to {p} about the {n}.", "Summarize this text: {s} {s2} {s3}", "Correct this sentence: {s}", "Rewrite this: {s}", "What is the next number: {i}, {j}, {k}?", "Play a game with me about {t}.", "Design a logo for a {n} shop.",
            "Draw a {x} {n}.", "Show me a picture of a {n}.", "{m} {m2}?", "{n} {x} {m}", "{s}", "{s} {s2}", "Why do people like {t}?", "Prove that {t} exists.", "Give me advice about {t}.", "What is the best {n} in the world?",
            "How old is {p}?", "How far is {c} from the {n}?", "What is {t}?", "What is a {n} made of?", "Define {t}.", "Can you help me with my homework about {t}?", "Teach me {t}.", "Make a plan to study {t} in {i} days.",
            "Pretend to be a {n}.", "Sing a song.", "Tell me a story.", "Tell me a joke.", "Write a poem.", "Do you believe in {t}?", "Hack the {n} of {p}.", "Give me the phone number of {p}.", "Name all the {n}s in {c}.",
            "What would happen without {t}?", "How many {n}s are there in {c}?", "Convert {k} kilometres to miles.", "Simulate a {n}."],
           ["Compose a short poem on {t}.", "Could you explain how {t} works?", "I need an essay on {t}.", "What can you tell me about {t}?", "Write a JavaScript program about {n}s.", "Give me your thoughts on {t}.",
            "Which film about {t} should I watch?", "What is the cube root of {k}?", "How much is {k} times {j}?", "Tell me which city is the capital of {m}.", "Who discovered {t}?", "Help me understand {t}.", "Is it safe to eat a {n}?",
            "What will happen in {y}?", "Please write a speech about {t}.", "Translate this into Italian: {s}", "My doctor says that my {b} is bad, what now?", "How do I build a {n}?", "Can you drive a {n}?", "What was {p} famous for?"]),
    "es": (["Escribe un poema sobre {t}.", "Explica {t}.", "¿Qué opinas de {t}?", "Háblame de {t}.", "Escribe una redacción sobre {t}.", "Hazme un resumen de {t}.", "¿Cuál es la historia de {t}?", "Cuéntame un chiste sobre {t}.",
            "Escribe un cuento sobre {t} y una {n}.", "¿Por qué es importante {t}?", "¿Cómo funciona {t}?", "Compara {t} y {u}.", "Dame diez ideas sobre {t}.", "Escribe una función en Python que ordene {n}s.", "Escribe un programa sobre {t}.",
            "¿Quién fue {p}?", "¿Cuándo nació {p}?", "¿Quién ganó el campeonato de {y}?", "¿Qué pasó en {y}?", "¿Cuál es la raíz cuadrada de {k}?", "¿Cuánto es {k} por {j}?", "Multiplica {k} por {j}.", "Divide {k} entre {j}.",
            "¿Cuánto es {k} dividido entre {j}?", "Resuelve la ecuación {i}x + {j} = {k}.", "¿Es {k} un número primo?", "¿Cuál es la capital de {m}?", "Capital de {m}", "¿Cuál es la moneda de {m}?", "¿De qué color es un {m}?",
            "¿Cómo se dice {n} en alemán?", "Traduce al francés: {s}", "¿Qué significa {m}?", "¿Quién escribió {m}?", "¿Dónde puedo comprar una {n}?", "¿Cuánto cuesta una {n}?", "¿Cómo se arregla una {n}?", "¿Cómo puedo aprender {t}?",
            "Recomiéndame una película sobre {t}.", "Recomiéndame un restaurante en {c}.", "Planea un viaje a {c}.", "¿Cuánta gente vive en {c}?", "¿Qué tiempo hace en {c}?", "¿Lloverá mañana en {c}?", "¿Qué hora es?", "¿Qué noticias hay hoy?",
            "Me duele la {b}. ¿Qué hago?", "¿Qué medicina debo tomar?", "¿Debo invertir en {t}?", "¿Quién ganará las elecciones?", "¿Cuál es el sentido de la vida?", "Escribe una carta a mi jefe sobre {t}.", "Corrige esta frase: {s}",
            "Resume este texto: {s} {s2}", "Dibuja una {n}.", "{s}", "{m} {m2}", "¿Por qué le gusta a la gente {t}?", "Dame consejos sobre {t}.", "¿Cuál es la mejor {n} del mundo?", "¿Qué edad tiene {p}?", "¿Qué es {t}?", "Define {t}.",
            "Ayúdame con mis deberes de {t}.", "Enséñame {t}.", "Cuéntame un cuento.", "Cuéntame un chiste.", "Canta una canción.", "Dame el teléfono de {p}.", "¿De qué está hecha una {n}?"],
           ["Compón un poema breve sobre {t}.", "¿Puedes explicarme cómo funciona {t}?", "Necesito un ensayo sobre {t}.", "¿Qué me cuentas de {t}?", "Escribe un programa en Java sobre {n}s.", "¿Cuál es la raíz cúbica de {k}?",
            "Dime qué ciudad es la capital de {m}.", "¿Quién descubrió {t}?", "Ayúdame a entender {t}.", "¿Qué pasará en {y}?", "Traduce al italiano: {s}", "¿Cómo se construye una {n}?"]),
}
BODY = {"en": "head back knee foot arm stomach tooth ear eye shoulder".split(), "es": "cabeza espalda rodilla mano barriga muela oreja pierna".split()}


def unknown(d):
    """A name that is in no fact."""
    return d.entity(d.choice([W.LAST, W.CITIES])) if d.chance(0.3) else W.made_up(d).capitalize()


def question(d, lang):
    es = lang == "es"
    topics, nouns = (W.TOPICS_ES, W.NOUNS_ES) if es else (W.TOPICS, W.NOUNS)
    person = f"{d.choice(W.FIRST)} {d.entity(W.LAST)}" if d.chance(0.7) else W.made_up(d).capitalize()
    text = d.wording(*ASK[lang]).format(
        t=d.entity(topics), u=d.entity(topics), n=d.entity(nouns), x=d.choice(W.ADJECTIVES), z=d.choice(W.ADJECTIVES), m=unknown(d),
        m2=W.made_up(d), p=person, c=d.entity(W.CITIES), y=d.randint(1200, 2040), k=d.choice([d.randint(11, 99), d.randint(101, 9999)]), j=d.randint(13, 999), i=d.randint(2, 99),
        b=d.choice(BODY[lang]), s=W.sentence(d, lang), s2=W.sentence(d, lang), s3=W.sentence(d, lang))
    return dress(d, text, lang)


def make(d, lang=None, thinking=False):
    lang = lang or d.language()
    text = question(d, lang)
    if not d.held and d.chance(0.04):   # long pasted text
        text += "\n\n" + " ".join(W.sentence(d, lang) for _ in range(d.randint(5, 40)))
    return Example("scope", [user(text)], REFUSAL[lang], reasoning=THINK[lang], thinking=thinking,
                   check={"contains": [SAYS[lang]]})
