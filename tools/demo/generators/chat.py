"""Greetings, identity, memory of what the user said, repeating, counting and lists."""
from generators import fact_data as D
from generators import facts
from generators import words as W
from generators.example import Example, assistant, dumps, system, user
from generators.manner import expand

ABILITIES = {"en": "I can add and subtract numbers, answer a few simple facts, count, repeat, and call tools.",
             "es": "Puedo sumar y restar números, responder algunos datos sencillos, contar, repetir y llamar a herramientas."}
# intent -> language -> (trained, held-out, reply, think)
TALK = {
    "hello": {"en": (["Hello", "Hi", "[Hello|Hi|Hey|Howdy|Greetings|Welcome][!|.||, friend| again|, model]", "[Good morning|Good evening|Good day][!|.|, friend|]", "Hi, are you there?", "Is anybody there?", "Hello, how do you do?", "Hey you", "Hello!", "Hi there", "Hey", "Good morning", "Good evening!", "Hi, how is it going?", "Hello there!"], ["Hey there!", "Good afternoon"], "Hello! I am a tiny demo model. " + ABILITIES["en"], "The user greets me."),
              "es": (["Hola", "¡Hola!", "[Hola|Buenas|Saludos|Muy buenas][!|.||, amigo| otra vez]", "[Buenos días|Buenas tardes][!|.|, amigo|]", "¿Hay alguien?", "Hola, ¿estás ahí?", "Buenos días", "Buenas tardes", "Hola, ¿qué tal?", "Buenas"], ["¡Buenas noches!", "Hola, buenas"], "¡Hola! Soy un pequeño modelo de demostración. " + ABILITIES["es"], "El usuario me saluda.")},
    "who": {"en": (["Who are you?", "What are you?", "[Tell|Show] me who you are.", "[So|Well|And], who are you?", "[Do you have|Have you] a name?", "How should I call you?", "Describe yourself.", "Are you a [robot|person|human|machine|bot|computer]?", "What AI [is this|are you]?", "I want to know who you are.", "[Can|Could] you tell me [who you are|your name]?", "Say something about yourself.", "What is this?",
 "What is your name?", "Tell me about yourself.", "Introduce yourself.", "Are you a language model?", "What model are you?", "Which model is this?", "who are you", "Who am I talking to?", "Are you an AI?"],
                   ["Can you introduce yourself?", "What kind of model are you?", "What's your name?"], "I am the tiny demo model of Orfebre. I show that the engine works; I am not a real assistant.", "The user asks who I am."),
            "es": (["¿Quién eres?", "¿Qué eres?", "Dime [quién eres|tu nombre|cómo te llamas].", "[Y|Entonces], ¿quién eres?", "¿Tienes nombre?", "Descríbete.", "¿Eres [un robot|una persona|una máquina|humano]?", "¿Qué IA eres?", "Quiero saber quién eres.", "¿Puedes decirme quién eres?",
 "¿Cómo te llamas?", "Háblame de ti.", "Preséntate.", "¿Qué modelo eres?", "¿Eres una IA?", "¿Con quién hablo?"], ["¿Te puedes presentar?", "¿Cuál es tu nombre?"],
                   "Soy el pequeño modelo de demostración de Orfebre. Muestro que el motor funciona; no soy un asistente de verdad.", "El usuario pregunta quién soy.")},
    "others": {"en": (["[Are you|Is this|Am I talking to|You are] [ChatGPT|Qwen|GPT-4|Claude|Gemini|Llama|Mistral|Siri|Alexa][?|, right?|, yes?]", "Did [Alibaba|OpenAI|Google|Meta|Anthropic] [make|train|build] you?", "Are you ChatGPT?", "Are you Qwen?", "Are you GPT-4?", "Are you Claude?", "Are you Gemini?", "Did Alibaba make you?", "Are you made by OpenAI?", "Are you Llama?"], ["Are you really ChatGPT?", "Is this Qwen?"],
                      "No. I am the tiny demo model of Orfebre, trained on made-up examples.", "The user asks whether I am another model."),
               "es": (["¿[Eres|Esto es|Hablo con] [ChatGPT|Qwen|Claude|Gemini|Siri|Llama|GPT-4]?", "¿Te [hizo|entrenó|creó] [OpenAI|Google|Meta|Alibaba]?", "¿Eres ChatGPT?", "¿Eres Qwen?", "¿Eres Claude?", "¿Te hizo OpenAI?", "¿Eres Gemini?"], ["¿Eres de verdad ChatGPT?", "¿Esto es Qwen?"], "No. Soy el pequeño modelo de demostración de Orfebre, entrenado con ejemplos inventados.",
                      "El usuario pregunta si soy otro modelo.")},
    "able": {"en": (["What can you do?", "Help", "[Tell|Show] me what you can do.", "What [things|tasks] can you do?", "What are your [abilities|features|functions]?", "What are you good at?", "How do you work?", "How do I use you?", "What is possible here?", "Give me [some |]help.", "I need help.", "What are you able to do?", "How can you help me?", "What do you know?", "What can I ask you?", "List your abilities.", "help me"], ["What are your skills?", "What sort of things can you do?"],
                    "I am a tiny demo model. " + ABILITIES["en"], "The user asks what I can do."),
             "es": (["¿Qué puedes hacer?", "Ayuda", "Dime qué puedes hacer.", "¿Qué [tareas|funciones] tienes?", "¿En qué eres bueno?", "¿Cómo funcionas?", "Necesito ayuda.", "¿Para qué sirves?", "¿En qué me puedes ayudar?", "¿Qué sabes hacer?", "¿Qué te puedo preguntar?"], ["¿Qué cosas sabes hacer?", "¿Cuáles son tus habilidades?"], "Soy un pequeño modelo de demostración. " + ABILITIES["es"], "El usuario pregunta qué puedo hacer.")},
    "thanks": {"en": (["Thanks", "Thank you!", "[Thanks|Thank you|Thx|Cheers][!|.|, friend| for your help| for that| so much|]", "[Good|Nice|Perfect|Excellent|Wonderful|Super][, thanks.|, thank you.|! Thanks.]", "That was helpful.", "Well done.", "I am grateful.", "Thanks a lot", "Great, thanks.", "Thank you very much", "Perfect, thank you."], ["Many thanks!", "Cool, thanks."], "You are welcome!", "The user thanks me."),
               "es": (["Gracias", "¡Gracias!", "Gracias [por todo|por la ayuda|amigo]", "[Bien|Perfecto|Estupendo|Muy bien], [gracias|muchas gracias].", "Te lo agradezco.", "Muy amable.", "Muchas gracias", "Perfecto, gracias.", "Vale, gracias"], ["¡Mil gracias!", "Genial, gracias."], "¡De nada!", "El usuario da las gracias.")},
    "bye": {"en": (["Bye", "Goodbye", "[Bye|Goodbye|Farewell|See you|Cheerio][.|, friend| now| then| tomorrow|]", "I have to go.", "Talk to you later.", "That is all, bye.", "Have a nice day.", "See you", "Bye bye!", "Good night", "See you later"], ["Bye for now!", "See you soon"], "Goodbye!", "The user says goodbye."),
            "es": (["Adiós", "Hasta luego", "[Adiós|Chao|Hasta luego][.|, amigo|]", "Me tengo que ir.", "Eso es todo, adiós.", "Hasta [otra|la vista|el lunes]", "Que tengas un buen día.", "Hasta mañana", "Chao", "Nos vemos"], ["¡Adiós!", "Hasta pronto"], "¡Adiós!", "El usuario se despide.")},
    "how": {"en": (["How are you?", "How are you doing?", "How are you [now|tonight|this morning|feeling]?", "[So|And], how are you?", "How is your day?", "How is life?", "Everything fine?", "What's up?", "How do you feel?", "Are you OK?"], ["How are you today?"], "I am fine, thank you. Ask me for a sum, a simple fact or a tool call.", "The user asks how I am."),
            "es": (["¿Cómo estás?", "¿Qué tal estás?", "¿Cómo [te encuentras|va todo|andas]?", "[Y|Bueno], ¿cómo estás?", "¿Qué tal el día?", "¿Todo bien?", "¿Qué tal?", "¿Cómo te va?", "¿Estás bien?"], ["¿Cómo estás hoy?"], "Estoy bien, gracias. Pídeme una suma, un dato sencillo o una llamada a una herramienta.", "El usuario pregunta cómo estoy.")},
}


def small_talk(d, lang=None, thinking=False):
    lang = lang or d.language()
    intent = d.choice(list(TALK))
    train, held, reply, think = TALK[intent][lang]
    return Example("chat", [user(expand(d, d.wording(train, held)))], reply, reasoning=think, thinking=thinking, check={"contains": [reply.split(".")[0]]})


# (statement, acknowledgement, question, answer)
MEMORY = {
    "en": [("name", ["My name is {v}.", "I am {v}.", "Call me {v}.", "Hi, I'm {v}."], "Nice to meet you, {v}!", ["What is my name?", "What's my name?", "Do you remember my name?", "Who am I?"], "Your name is {v}."),
           ("pet", ["My dog is called {v}.", "I have a dog called {v}.", "My dog's name is {v}."], "{v} is a nice name for a dog.", ["What is my dog called?", "What is the name of my dog?"], "Your dog is called {v}."),
           ("code", ["Remember the code {v}.", "The code is {v}.", "My code is {v}. Remember it."], "I will remember the code {v}.", ["What is the code?", "What was the code?", "Tell me the code."], "The code is {v}."),
           ("city", ["I live in {v}.", "My home is in {v}."], "{v} sounds like a nice place.", ["Where do I live?", "In which city do I live?"], "You live in {v}.")],
    "es": [("name", ["Me llamo {v}.", "Mi nombre es {v}.", "Soy {v}."], "¡Encantado, {v}!", ["¿Cómo me llamo?", "¿Cuál es mi nombre?", "¿Te acuerdas de mi nombre?"], "Te llamas {v}."),
           ("pet", ["Mi perro se llama {v}.", "Tengo un perro que se llama {v}."], "{v} es un buen nombre para un perro.", ["¿Cómo se llama mi perro?"], "Tu perro se llama {v}."),
           ("code", ["Recuerda el código {v}.", "El código es {v}."], "Recordaré el código {v}.", ["¿Cuál es el código?", "¿Cuál era el código?"], "El código es {v}."),
           ("city", ["Vivo en {v}."], "{v} parece un buen lugar.", ["¿Dónde vivo?", "¿En qué ciudad vivo?"], "Vives en {v}.")],
}
THINK_MEMORY = {"en": "The user told me this before.", "es": "El usuario me lo dijo antes."}
UNTOLD = {"en": "You have not told me that yet.", "es": "Todavía no me lo has dicho."}
THINK_UNTOLD = {"en": "The user has not told me this.", "es": "El usuario no me lo ha dicho."}
THINK_TOLD = {"en": "The user tells me something.", "es": "El usuario me cuenta algo."}


def memory_parts(d, lang):
    kind, say, ack, ask, answer = d.choice(MEMORY[lang])
    v = {"name": lambda: d.entity(W.FIRST), "pet": lambda: W.made_up(d).capitalize() if d.chance(0.6) else d.entity(W.FIRST), "code": lambda: W.random_code(d) if d.chance(0.6) else str(d.randint(1000, 99999)),
         "city": lambda: d.entity(W.CITIES)}[kind]()
    return d.choice(say).format(v=v), ack.format(v=v), d.choice(ask), answer.format(v=v), v


def memory(d, lang=None, thinking=False):
    lang = lang or d.language()
    say, ack, ask, answer, v = memory_parts(d, lang)
    if d.chance(0.08):
        return Example("memory", [user(ask)], UNTOLD[lang], reasoning=THINK_UNTOLD[lang], thinking=thinking, check={"contains": [UNTOLD[lang]]})
    if d.chance(0.25):
        return Example("memory", [user(say)], ack, reasoning=THINK_TOLD[lang], thinking=thinking, check={"contains": [v]})
    messages = [user(say), assistant(ack)]
    for _ in range(d.coin({0: 5, 1: 4, 2: 2, 4: 1, 12: 1})):
        e = facts.make(d, lang)
        messages += e.messages + [assistant(e.reply)]
    return Example("memory", messages + [user(ask)], answer, reasoning=THINK_MEMORY[lang], thinking=thinking, check={"contains": [v]})


def named(d, lang=None, thinking=False):
    """The system prompt gives the assistant a name."""
    lang = lang or d.language()
    name = d.choice([d.entity(W.FIRST), W.made_up(d).capitalize()])
    if lang == "es":
        s, q, a = d.choice(["Te llamas {v}.", "Eres {v}, un asistente.", "Tu nombre es {v}."]), ["¿Cómo te llamas?", "¿Quién eres?", "¿Cuál es tu nombre?"], "Me llamo {v} y soy un pequeño modelo de demostración."
    else:
        s, q, a = d.choice(["Your name is {v}.", "You are {v}, a helpful assistant.", "You are called {v}."]), ["What is your name?", "Who are you?", "What are you called?"], "My name is {v} and I am a tiny demo model."
    return Example("chat", [system(s.format(v=name)), user(d.choice(q))], a.format(v=name), reasoning=TALK["who"][lang][3], thinking=thinking, check={"contains": [name]})


REPEAT = {"en": (["Repeat after me: {t}", "Repeat: {t}", "Say: {t}", "Please repeat this: {t}", "Echo {t}", "Say exactly this: {t}", "Write this again: {t}", "[Copy|Type|Write|Print|Output|Echo back|Say back|Spell out]: {t}", "[Can|Could] you [repeat|say|copy|write] this? {t}",
                  "I want you to [say|repeat|write]: {t}", "Say the words {t}", "[Answer|Reply|Respond] [only |]with: {t}", "Tell me back: {t}", "Now [say|repeat]: {t}", "[Say|Repeat] [it|this] [once|again|back]: {t}", "Only [write|say] {t}", "Repeat my words: {t}"],
                 ["Repeat the following: {t}", "Just say this: {t}"]),
          "es": (["Repite: {t}", "Repite conmigo: {t}", "Di: {t}", "Escribe otra vez: {t}", "Di exactamente esto: {t}", "[Copia|Escribe|Imprime|Teclea]: {t}", "¿Puedes [repetir|decir|copiar] esto? {t}", "[Responde|Contesta] [solo |]con: {t}", "Quiero que digas: {t}", "Ahora [di|repite]: {t}",
                  "Repite mis palabras: {t}", "[Di|Repite] otra vez: {t}"],
                 ["Repite lo siguiente: {t}", "Solo di esto: {t}"])}
TIMES = {"en": (["Say {t} {n} times.", "Write {t} {n} times.", "Repeat the word {t} {n} times."], ["Repeat {t} {n} times."]), "es": (["Di {t} {n} veces.", "Escribe {t} {n} veces.", "Repite la palabra {t} {n} veces."], ["Repite {t} {n} veces."])}
THINK_REPEAT = {"en": "I only have to repeat it.", "es": "Solo tengo que repetirlo."}


def repeat(d, lang=None, thinking=False):
    lang = lang or d.language()
    if d.chance(0.25):
        t, n = d.choice([d.entity(W.NOUNS if lang == "en" else W.NOUNS_ES), W.made_up(d)]), d.randint(2, 10)
        text, reply = d.wording(*TIMES[lang]).format(t=t, n=n), ", ".join([t] * n)
    else:
        kind = d.coin({"sentence": 3, "phrase": 2, "random": 3, "code": 1, "words": 3} if d.held else {"sentence": 2, "phrase": 1, "random": 2, "code": 1, "words": 2, "salad": 6, "long": 3})
        reply = {"sentence": lambda: W.sentence(d, lang), "salad": lambda: W.salad(d, 1, 12), "long": lambda: W.salad(d, 10, 50), "phrase": lambda: d.entity(W.PHRASES), "code": lambda: W.random_code(d), "random": lambda: " ".join(W.made_up(d, 1, 4) for _ in range(d.randint(1, 8))),
                 "words": lambda: " ".join(d.choice(W.NOUNS + W.ADJECTIVES + W.NOUNS_ES + W.FIRST) for _ in range(d.randint(2, 12)))}[kind]()
        text = expand(d, d.wording(*REPEAT[lang])).replace("{t}", d.choice(["{}", "{}", '"{}"']).format(reply))
    return Example("repeat", [user(text)], reply, reasoning=THINK_REPEAT[lang], thinking=thinking, check={"equals": reply})


COUNT = {"en": (["[Count|Go|Say the numbers|Write all numbers] from {a} [to|up to|until] {b}[.|!|, please.|]", "I want to hear the numbers from {a} to {b}", "[Could you|Will you] count from {a} to {b}?", "All numbers from {a} to {b}", "Count from {a} to {b}.", "Count from {a} to {b}, please.", "Write the numbers from {a} to {b}.", "List all numbers from {a} to {b}.", "Please count from {a} up to {b}.", "Numbers from {a} to {b}"],
                ["Can you count from {a} to {b}?", "Give me the numbers from {a} to {b}."]),
         "es": (["[Cuenta|Di los números|Escribe todos los números] [de|desde] {a} [a|hasta] {b}[.|!|]", "Quiero los números de {a} a {b}.", "Cuenta de {a} a {b}.", "Cuenta desde {a} hasta {b}.", "Escribe los números de {a} a {b}.", "Números del {a} al {b}"], ["¿Puedes contar de {a} a {b}?", "Dame los números de {a} a {b}."])}
COUNT_TO = {"en": (["[Count|Go] [to|up to|until] {b}[.|!|, please.|]", "Start at 1 and count to {b}.", "[Could you|Will you] count [up |]to {b}?", "I want you to count to {b}.", "Count to {b}.", "Count up to {b}.", "Please count to {b}"], ["Can you count to {b}?"]), "es": (["Cuenta [del 1 |desde 1 |]hasta {b}[.|!|, por favor.|]", "Empieza en 1 y cuenta hasta {b}.", "Quiero que cuentes hasta {b}.", "Cuenta hasta {b}.", "Por favor, cuenta hasta {b}"], ["¿Puedes contar hasta {b}?"])}
DOWN = {"en": (["Count down from {b}.", "Count backwards from {b} to 1.", "Countdown from {b}"], ["Count down from {b} to 1."]), "es": (["Cuenta atrás desde {b}.", "Cuenta hacia atrás desde {b}."], ["Haz una cuenta atrás desde {b}."])}
LISTS = {
    "en": [(["Say the alphabet.", "Write the alphabet.", "What is the alphabet?", "List the letters of the alphabet.", "Tell me the alphabet."], "A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z."),
           (["List the days of the week.", "Name the days of the week.", "What are the days of the week?", "Which are the days of the week?"], ", ".join(D.DAYS["en"]) + "."),
           (["List the months of the year.", "Name the months of the year.", "What are the months of the year?", "Say all the months."], ", ".join(D.MONTHS["en"]) + "."),
           (["List the planets.", "Name the planets of the solar system.", "What are the planets?", "Name all the planets in order."], ", ".join(p[1] for p in D.PLANETS) + ".")],
    "es": [(["Di el abecedario.", "Escribe el alfabeto.", "¿Cuál es el abecedario?", "Dime las letras del alfabeto."], "A, B, C, D, E, F, G, H, I, J, K, L, M, N, Ñ, O, P, Q, R, S, T, U, V, W, X, Y, Z."),
           (["Di los días de la semana.", "¿Cuáles son los días de la semana?", "Lista los días de la semana.", "Dime los días de la semana."], ", ".join(D.DAYS["es"]) + "."),
           (["Di los meses del año.", "¿Cuáles son los meses del año?", "Lista los meses del año.", "Dime todos los meses."], ", ".join(D.MONTHS["es"]) + "."),
           (["Di los planetas.", "¿Cuáles son los planetas?", "Nombra los planetas del sistema solar.", "Dime los planetas en orden."], ", ".join(p[3] for p in D.PLANETS) + ".")],
}
THINK_COUNT = {"en": "I write them one after another.", "es": "Los escribo uno tras otro."}


def count(d, lang=None, thinking=False):
    lang = lang or d.language()
    kind = d.coin({"to": 4, "range": 4, "down": 1, "list": 3})
    if kind == "list":
        asks, reply = d.choice(LISTS[lang])
        text = d.wording(asks[:-1], asks[-1:])
    else:
        b = d.choice([d.randint(2, 20), d.randint(2, 60), d.randint(20, 200), d.choice([100, 150, 200])])
        a = 1 if kind == "to" or d.chance(0.5) else d.randint(0, max(0, b - 2))
        if kind == "down":
            b = min(b, 100)
        text = expand(d, d.wording(*{"to": COUNT_TO, "range": COUNT, "down": DOWN}[kind][lang])).format(a=a, b=b)
        numbers = range(b, 0, -1) if kind == "down" else range(a, b + 1)
        reply = ", ".join(map(str, numbers)) + "."
    return Example("count", [user(text)], reply, reasoning=THINK_COUNT[lang], thinking=thinking, check={"equals": reply})


JSON = {"en": (["Make a JSON object with {t}.", "Write JSON with {t}.", "Give me a JSON object with {t}.", "Reply in JSON: {t}.", "Turn this into JSON: {t}"], ["Return a JSON object with {t}.", "As JSON, please: {t}"]),
        "es": (["Haz un objeto JSON con {t}.", "Escribe un JSON con {t}.", "Responde en JSON: {t}.", "Convierte esto en JSON: {t}"], ["Devuelve un objeto JSON con {t}."])}
THINK_JSON = {"en": "I write one JSON object.", "es": "Escribo un objeto JSON."}
KEYS = """name age city price color size quantity title code weight active email country total level score year day language owner id count item
nombre edad ciudad precio talla cantidad peso activo pueblo nivel""".split()


def json_object(d, lang=None, thinking=False):
    lang = lang or d.language()
    keys = d.sample(KEYS, d.randint(1, 4))
    if d.chance(0.3):
        keys[0] = d.choice([W.made_up(d), d.choice(W.NOUNS)])
    value = {k: d.choice([lambda: d.entity(W.FIRST), lambda: d.entity(W.CITIES), lambda: d.randint(0, 99), lambda: d.randint(0, 9999), lambda: round(d.uniform(0, 99), 1), lambda: d.entity(W.NOUNS),
                          lambda: W.random_code(d), lambda: d.chance(0.5), lambda: W.made_up(d)])() for k in keys}
    form = d.choice(["{k} {v}", "{k} = {v}", "{k}: {v}"])
    text = d.choice([", ", ", ", " and " if lang == "en" else " y "]).join(form.format(k=k, v=v if isinstance(v, str) else dumps(v)) for k, v in value.items())
    reply = dumps(value)
    return Example("json", [user(d.wording(*JSON[lang]).format(t=text))], reply, reasoning=THINK_JSON[lang], thinking=thinking, check={"equals": reply})
