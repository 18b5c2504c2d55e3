"""Questions about the closed list of facts, in many wordings. Held out: wordings (a fact can only be learnt by being told)."""
from generators import fact_data as D
from generators.example import Example, user
from generators.manner import FRAMES, ask, bare, dress

# relation -> language -> (trained wordings, held-out wordings, answer). {s} subject, {a} answer.
RELATIONS = {
    "capital": {
        "en": (["{s} has which capital?", "For {s}, what is the capital?", "What is the capital of the country {s}?", "Which capital does {s} have?", "The capital of {s}?", "What is the capital of {s}?", "What's the capital of {s}?", "Tell me the capital of {s}.", "Capital of {s}?", "Name the capital of {s}.",
                "Which city is the capital of {s}?", "What city is {s}'s capital?", "Do you know the capital of {s}?", "The capital of {s} is", "What is the capital city of {s}?",
                "I forgot the capital of {s}. What is it?", "Give me the capital city of {s}."],
               ["Can you say which city is the capital of {s}?", "I would like to know the capital of {s}.", "{s}: what is its capital?", "What is the name of the capital of {s}?"],
               "The capital of {s} is {a}."),
        "es": (["¿Cuál ciudad es la capital de {s}?", "{s}, ¿qué capital tiene?", "¿Qué capital tiene {s}?", "¿Cuál es la capital del país {s}?", "¿Y cuál es la capital de {s}?", "¿Cuál es la capital de {s}?", "Dime la capital de {s}.", "¿Qué ciudad es la capital de {s}?", "Capital de {s}", "Nombra la capital de {s}.", "¿Sabes cuál es la capital de {s}?",
                "¿Cómo se llama la capital de {s}?", "La capital de {s} es", "He olvidado la capital de {s}. ¿Cuál es?", "¿Cuál es la ciudad capital de {s}?"],
               ["¿Me dices la capital de {s}?", "Quiero saber cuál es la capital de {s}.", "{s}: ¿cuál es su capital?", "Necesito la capital de {s}."],
               "La capital de {s} es {a}."),
    },
    "country": {
        "en": (["{a}: of which country is it the capital?", "Whose capital is {a}?", "In which country is {a} the capital?", "For which country is {a} the capital?", "Which country has {a} as its capital?", "{a} is the capital of which country?", "Of which country is {a} the capital?", "{a} is the capital of what country?",
                "What country has the capital {a}?", "Name the country whose capital is {a}."],
               ["Tell me which country has {a} as capital.", "{a} is the capital of what nation?", "The city of {a} is the capital of which country?"], "{a} is the capital of {s}."),
        "es": (["¿{a} es capital de cuál país?", "{a}: ¿de qué país es capital?", "¿Cuál país tiene por capital {a}?", "¿De qué país es capital {a}?", "¿Qué país tiene como capital {a}?", "{a} es la capital de qué país?", "¿Cuál es el país cuya capital es {a}?", "¿{a} es la capital de qué país?"],
               ["Dime de qué país es capital {a}.", "¿Qué país tiene su capital en {a}?"], "{a} es la capital de {s}."),
    },
    "colour": {
        "en": (["Which color is {s}?", "What color does {s} have?", "Think of {s}: which colour is it?", "What colour does {s} usually have?", "What colour is {s}?", "What color is {s}?", "Which colour is {s}?", "Tell me the colour of {s}.", "What is the colour of {s}?", "What is the color of {s}?", "Colour of {s}?"],
               ["Can you tell me what color {s} is?", "Name the colour of {s}.", "Which color does {s} have?"], "The colour of {s} is {a}."),
        "es": (["¿Cómo es el color que tiene {s}?", "Normalmente, ¿de qué color es {s}?", "¿Qué color suele tener {s}?", "Piensa en {s}: ¿de qué color es?", "¿De qué color es {s}?", "¿Qué color tiene {s}?", "Dime de qué color es {s}.", "¿De qué color es normalmente {s}?", "Color: {s}", "¿Sabes de qué color es {s}?"],
               ["¿Me dices de qué color es {s}?", "¿Me dirías el color de {s}?"], "{S} es de color {a}."),
    },
    "sound": {
        "en": (["What kind of sound does {s} make?", "{S}: which sound does it make?", "Which sound is made by {s}?", "How does {s} sound?", "What sound does {s} make?", "What does {s} do to make noise?", "Which sound does {s} make?", "Tell me the sound of {s}.", "What noise does {s} make?"],
               ["What is the sound that {s} makes?", "Which noise does {s} make?"], "{S} {a}."),
        "es": (["¿Qué hace {s} cuando suena?", "¿Qué sonido produce {s}?", "{S}: ¿qué sonido hace?", "¿Cómo se llama el sonido que hace {s}?", "¿Qué sonido hace {s}?", "¿Qué ruido hace {s}?", "Dime qué sonido hace {s}.", "¿Cómo suena {s}?"], ["¿Cuál es el sonido que hace {s}?", "Dime el ruido que hace {s}."], "{S} {a}."),
    },
    "legs": {
        "en": (["On how many legs does {s} walk?", "{S} has how many legs?", "How many legs do you count on {s}?", "How many legs does {s} have?", "Number of legs of {s}?", "How many legs has {s} got?", "Tell me how many legs {s} has.", "Count the legs of {s}."],
               ["What is the number of legs that {s} has?", "Do you know how many legs {s} has?"], "{S} has {a} legs."),
        "es": (["¿Cuántas patas hay en {s}?", "{S}: ¿cuántas patas tiene?", "¿Con cuántas patas anda {s}?", "¿Cuántas patas tiene {s}?", "Número de patas de {s}", "Dime cuántas patas tiene {s}.", "¿Cuántas piernas tiene {s}?"], ["¿Sabes cuántas patas tiene {s}?", "¿Qué número de patas tiene {s}?"],
               "{S} tiene {a} patas."),
    },
    "young": {
        "en": (["A baby {s} is called what?", "How do we call a baby {s}?", "Which word means a young {s}?", "What is a baby {s} called?", "What do you call a young {s}?", "Name for a baby {s}?", "What is the young of a {s}?", "How is a baby {s} called?"],
               ["What is the name of a baby {s}?", "Tell me what a young {s} is called."], "A baby {s} is called a {a}."),
        "es": (["¿Cuál es la cría de {s}?", "La cría de {s}, ¿cómo se llama?", "¿Qué es la cría de {s}?", "¿Cómo se llama la cría de {s}?", "¿Qué nombre tiene la cría de {s}?", "Dime cómo se llama la cría de {s}.", "Nombre de la cría de {s}"],
               ["¿Qué palabra nombra a la cría de {s}?", "¿Sabes cómo se llama la cría de {s}?"], "La cría de {s} se llama {a}."),
    },
    "opposite": {
        "en": (["If it is not {s}, it is?", "What is the reverse of {s}?", "The opposite of {s} is", "Which is the opposite of {s}?", "What is the opposite of {s}?", "Opposite of {s}?", "Tell me the opposite of {s}.", "Give me the opposite of {s}.", "What word is the opposite of {s}?", "Which word means the opposite of {s}?"],
               ["What's the contrary of {s}?", "Name the opposite of {s}."], "The opposite of {s} is {a}."),
        "es": (["Lo contrario de {s}", "¿Cuál es el antónimo de {s}?", "Si no es {s}, ¿qué es?", "¿Cuál es el contrario de {s}?", "¿Qué es lo contrario de {s}?", "Dime lo contrario de {s}.", "Contrario de {s}", "¿Cuál es el opuesto de {s}?"],
               ["Dime el contrario de {s}.", "¿Qué palabra es lo contrario de {s}?"], "Lo contrario de {s} es {a}."),
    },
    "symbol": {
        "en": (["How is {s} written in chemistry?", "Which chemical symbol does {s} have?", "Which is the symbol of {s}?", "What is the chemical symbol of {s}?", "Chemical symbol for {s}?", "What is the symbol for {s}?", "Tell me the chemical symbol of {s}.", "Which symbol does {s} have?"],
               ["What's the chemical symbol for {s}?", "Give me the symbol of {s}."], "The chemical symbol of {s} is {a}."),
        "es": (["¿Qué símbolo químico tiene el {s}?", "¿Cómo se escribe el símbolo del {s}?", "¿Cuál es el símbolo químico del {s}?", "Símbolo químico del {s}", "Dime el símbolo del {s}.", "¿Qué símbolo tiene el {s}?"], ["¿Con qué símbolo se escribe el {s}?", "¿Me dices el símbolo químico del {s}?"],
               "El símbolo químico del {s} es {a}."),
    },
    "sides": {
        "en": (["{S} has how many sides?", "How many sides are in {s}?", "What is the number of sides of {s}?", "How many sides does {s} have?", "Number of sides of {s}?", "How many sides has {s} got?", "Tell me how many sides {s} has."], ["What number of sides does {s} have?", "Do you know how many sides {s} has?"],
               "{S} has {a} sides."),
        "es": (["{S}: ¿cuántos lados tiene?", "¿Cuántos lados hay en {s}?", "¿De cuántos lados es {s}?", "¿Cuántos lados tiene {s}?", "Número de lados de {s}", "Dime cuántos lados tiene {s}."], ["¿Sabes cuántos lados tiene {s}?", "¿Qué número de lados tiene {s}?"], "{S} tiene {a} lados."),
    },
    "currency": {
        "en": (["What do people pay with in {s}?", "In {s}, which currency is used?", "Which money do they use in {s}?", "What currency does {s} use?", "What is the currency of {s}?", "Which currency is used in {s}?", "What money is used in {s}?", "Tell me the currency of {s}.", "Currency of {s}?"],
               ["What currency do people use in {s}?", "Name the currency of {s}."], "The currency of {s} is the {a}."),
        "es": (["¿Con qué se paga en {s}?", "¿Qué dinero se usa en {s}?", "En {s}, ¿qué moneda usan?", "¿Qué moneda usan en {s}?", "¿Cuál es la moneda de {s}?", "¿Qué moneda se usa en {s}?", "Dime la moneda de {s}.", "Moneda de {s}"], ["¿Qué moneda tiene {s}?", "¿Con qué moneda se paga en {s}?"], "La moneda de {s} es: {a}."),
    },
    "continent": {
        "en": (["Which continent does {s} belong to?", "{s} is on which continent?", "In which continent is {s}?", "Where can I find {s}?", "In what part of the world is {s}?", "On which continent is {s}?", "Which continent is {s} in?", "Where is {s}?", "What continent is {s} on?", "Tell me the continent of {s}.", "Continent of {s}?"],
               ["To which continent does {s} belong?", "In what continent can I find {s}?"], "{S} is in {a}."),
        "es": (["¿{s} en qué continente está?", "¿En cuál continente se encuentra {s}?", "¿Dónde se encuentra {s}?", "{s} está en qué continente", "¿Cuál es el continente al que pertenece {s}?", "¿En qué continente está {s}?", "¿Dónde está {s}?", "Dime en qué continente está {s}.", "Continente de {s}"], ["¿A qué continente pertenece {s}?", "¿Sabes en qué continente está {s}?"], "{S} está en {a}."),
    },
    "planet": {
        "en": (["Which planet is the {o}?", "From the Sun, what is the {o} planet?", "Which planet comes {o} from the Sun?", "Which one is the {o} planet?", "Which is the {o} planet from the Sun?", "What is the {o} planet?", "Name the {o} planet from the Sun.", "What planet is number {s} from the Sun?", "Tell me the {o} planet of the solar system."],
               ["Which planet is the {o} one from the Sun?", "What's the {o} planet of the solar system?"], "The {o} planet from the Sun is {a}."),
        "es": (["¿Qué planeta es el {o}?", "Desde el Sol, ¿cuál es el {o} planeta?", "¿Cómo se llama el {o} planeta?", "¿Cuál es el {o} planeta desde el Sol?", "¿Cuál es el {o} planeta?", "Dime el {o} planeta del sistema solar.", "¿Qué planeta es el número {s} desde el Sol?"],
               ["¿Qué planeta es el {o} desde el Sol?", "¿Me dices el {o} planeta?"], "El {o} planeta desde el Sol es {a}."),
    },
    "day_after": {
        "en": (["After {s}, which day comes?", "What is the next day after {s}?", "Which day is after {s}?", "It is {s}. What day comes tomorrow?", "What day comes after {s}?", "Which day follows {s}?", "What is the day after {s}?", "Day after {s}?", "If today is {s}, what day is tomorrow?"],
               ["Which day comes next after {s}?", "Today is {s}. What day is tomorrow?"], "The day after {s} is {a}."),
        "es": (["Tras el {s}, ¿qué día llega?", "¿Qué día llega después del {s}?", "¿Cuál es el día después del {s}?", "Después del {s}, ¿qué día va?", "¿Qué día viene después del {s}?", "¿Qué día sigue al {s}?", "Día después del {s}", "Si hoy es {s}, ¿qué día es mañana?"], ["¿Cuál es el día que sigue al {s}?", "Hoy es {s}. ¿Qué día es mañana?"],
               "Después del {s} viene el {a}."),
    },
    "day_before": {
        "en": (["Before {s}, which day comes?", "What day is just before {s}?", "It is {s}. What day was it yesterday?", "Which day precedes {s}?", "What day comes before {s}?", "Which day is before {s}?", "What is the day before {s}?", "If today is {s}, what day was yesterday?"], ["Which day comes just before {s}?", "Today is {s}. What day was yesterday?"],
               "The day before {s} is {a}."),
        "es": (["¿Cuál es el día antes del {s}?", "Antes del {s}, ¿qué día va?", "¿Qué día es el anterior al {s}?", "¿Qué día viene antes del {s}?", "¿Qué día va antes del {s}?", "Día antes del {s}", "Si hoy es {s}, ¿qué día fue ayer?"], ["¿Cuál es el día que va antes del {s}?", "Hoy es {s}. ¿Qué día fue ayer?"],
               "Antes del {s} viene el {a}."),
    },
    "month_after": {
        "en": (["After {s}, which month comes?", "What month is after {s}?", "Which month is next after {s}?", "Next month after {s}?", "What month comes after {s}?", "Which month follows {s}?", "What is the month after {s}?", "Month after {s}?"], ["Which month comes next after {s}?", "Tell me the month that follows {s}."],
               "The month after {s} is {a}."),
        "es": (["Tras {s}, ¿qué mes llega?", "¿Qué mes llega después de {s}?", "Después de {s}, ¿qué mes va?", "¿Cuál es el mes después de {s}?", "¿Qué mes viene después de {s}?", "¿Qué mes sigue a {s}?", "Mes después de {s}", "Dime qué mes viene después de {s}."], ["¿Cuál es el mes que sigue a {s}?", "¿Qué mes va tras {s}?"],
               "Después de {s} viene {a}."),
    },
    "month_number": {
        "en": (["Which month comes {o} in the year?", "What is month number {n}?", "What is the {o} month of the year?", "Which month is number {n}?", "Name the {o} month.", "Tell me the {o} month of the year."], ["Which is the {o} month of the year?", "What's the {o} month?"],
               "The {o} month of the year is {a}."),
        "es": (["¿Qué mes ocupa el lugar {n}?", "¿Cómo se llama el {o} mes?", "¿Cuál es el {o} mes del año?", "¿Qué mes es el número {n}?", "Dime el {o} mes del año."], ["¿Qué mes es el {o} del año?", "¿Me dices el {o} mes?"], "El {o} mes del año es {a}."),
    },
    "month_days": {
        "en": (["In {s}, how many days are there?", "Days in {s}?", "How many days has {s}?", "How many days long is {s}?", "How many days does {s} have?", "How many days are in {s}?", "Number of days in {s}?", "Tell me how many days {s} has."], ["How many days are there in the month of {s}?", "How long is {s}, in days?"], "{s} has {a} days."),
        "es": (["Días que tiene {s}", "¿Cuántos días trae {s}?", "En {s}, ¿cuántos días hay?", "¿Cuántos días suma {s}?", "¿Cuántos días tiene {s}?", "¿Cuántos días hay en {s}?", "Número de días de {s}", "Dime cuántos días tiene {s}."], ["¿Cuántos días tiene el mes de {s}?", "¿Sabes cuántos días tiene {s}?"], "{S} tiene {a} días."),
    },
    "amount": {
        "en": (["In {s}, how many {o} are there?", "{s} has how many {o}?", "How many {o} make {s}?", "How many {o} are in {s}?", "How many {o} are there in {s}?", "How many {o} does {s} have?", "Number of {o} in {s}?", "Tell me how many {o} are in {s}."],
               ["What number of {o} are there in {s}?", "Do you know how many {o} are in {s}?"], "There are {a} {o} in {s}."),
        "es": (["En {s}, ¿cuántos {o} hay?", "¿De cuántos {o} se compone {s}?", "¿Cuántos {o} son {s}?", "¿Cuántos {o} hay en {s}?", "¿Cuántos {o} tiene {s}?", "Número de {o} en {s}", "Dime cuántos {o} hay en {s}."], ["¿Sabes cuántos {o} hay en {s}?", "¿Qué número de {o} tiene {s}?"], "Hay {a} {o} en {s}."),
    },
    "to_spanish": {
        "en": (["{s} in Spanish", "In Spanish, what is {s}?", "How would I say {s} in Spanish?", "I want to say {s} in Spanish.", "Say {s} in Spanish.", "How do you say {s} in Spanish?", "What is {s} in Spanish?", "Translate {s} to Spanish.", "Spanish word for {s}?", "Translate \"{s}\" into Spanish.", "How do I say \"{s}\" in Spanish?"],
               ["What's the Spanish word for {s}?", "Tell me how to say {s} in Spanish."], "In Spanish, {s} is {a}."),
        "es": (["¿Cómo se diría {s} en español?", "En español, ¿cómo es {s}?", "{s} en español", "Pasa {s} al español", "¿Cómo puedo decir {s} en español?", "¿Cómo digo {s} en español?", "¿Cómo se dice {s} en español?", "¿Qué significa {s} en español?", "Traduce {s} al español.", "Traduce \"{s}\" al español."], ["¿Qué quiere decir {s} en español?", "Dime cómo se dice {s} en español."],
               "En español, {s} se dice {a}."),
    },
    "to_english": {
        "en": (["{a} in English", "In English, what is {a}?", "What is {a} in English?", "How would I say {a} in English?", "I want to say {a} in English.", "How do you say {a} in English?", "What does {a} mean in English?", "Translate {a} to English.", "English word for {a}?", "Translate \"{a}\" into English."],
               ["What's the English word for {a}?", "Tell me what {a} means in English."], "In English, {a} is {s}."),
        "es": (["¿Cómo se diría {a} en inglés?", "En inglés, ¿cómo es {a}?", "¿Qué es {a} en inglés?", "{a} en inglés", "Pasa {a} al inglés", "¿Cómo puedo decir {a} en inglés?", "Quiero decir {a} en inglés.", "¿Cómo se dice {a} en inglés?", "Traduce {a} al inglés.", "¿Cuál es la palabra inglesa para {a}?", "Traduce \"{a}\" al inglés."], ["Dime cómo se dice {a} en inglés.", "¿Cómo digo {a} en inglés?"],
               "En inglés, {a} se dice {s}."),
    },
    "times": {
        "en": (["{x} times {y}", "Compute {s}.", "Solve {s}.", "{s} = ?", "What do you get for {x} times {y}?", "What is {s}?", "{s}", "{s} =", "How much is {s}?", "Calculate {s}.", "What is {x} times {y}?", "Multiply {x} by {y}."], ["Work out {s}.", "How much is {x} times {y}?"], "{s} = {a}."),
        "es": (["{x} por {y}", "¿Cuánto es {x} x {y}?", "{s} = ?", "¿Cuál es el resultado de {x} por {y}?", "¿Cuánto es {s}?", "Calcula {s}.", "¿Cuánto es {x} por {y}?", "Multiplica {x} por {y}."], ["Dime cuánto es {s}.", "¿Cuánto da {x} por {y}?"], "{s} = {a}."),
    },
}


def upper_first(text):
    return text[:1].upper() + text[1:]


def _rows():
    """Every fact: (relation, language, values for the wordings, answer word)."""
    tables = {"capital": D.CAPITALS, "country": D.CAPITALS, "colour": D.COLOURS, "sound": D.SOUNDS, "legs": D.LEGS, "young": D.YOUNG, "opposite": D.OPPOSITES,
              "symbol": D.SYMBOLS, "sides": D.SIDES, "currency": D.CURRENCIES, "continent": D.CONTINENTS}
    for relation, rows in tables.items():
        for en, en_a, es, es_a in rows:
            key = "s" if relation == "country" else "a"
            for lang, s, a in (("en", en, en_a), ("es", es, es_a)):
                yield relation, lang, {"s": s, "a": a}, s if key == "s" else a
            if relation == "opposite":
                for lang, s, a in (("en", en_a, en), ("es", es_a, es)):
                    yield relation, lang, {"s": s, "a": a}, a
    for i, (_, en, _, es) in enumerate(D.PLANETS):
        for lang, a in (("en", en), ("es", es)):
            yield "planet", lang, {"s": i + 1, "o": D.ORDINALS[lang][i], "a": a}, a
    for en, es in D.WORDS:
        for lang in ("en", "es"):
            yield "to_spanish", lang, {"s": en, "a": es}, es
            yield "to_english", lang, {"s": en, "a": es}, en
    for en_o, en_s, a, es_o, es_s in D.AMOUNTS:
        yield "amount", "en", {"o": en_o, "s": en_s, "a": a}, a
        yield "amount", "es", {"o": es_o, "s": es_s, "a": a}, a
    for lang in ("en", "es"):
        days, months = D.DAYS[lang], D.MONTHS[lang]
        for i, day in enumerate(days):
            yield "day_after", lang, {"s": day, "a": days[(i + 1) % 7]}, days[(i + 1) % 7]
            yield "day_before", lang, {"s": day, "a": days[(i - 1) % 7]}, days[(i - 1) % 7]
        for i, month in enumerate(months):
            following = months[(i + 1) % 12]
            yield "month_after", lang, {"s": month, "a": following}, following
            yield "month_number", lang, {"o": D.ORDINALS[lang][i], "n": i + 1, "a": month}, month
            yield "month_days", lang, {"s": month, "a": D.MONTH_DAYS[i]}, str(D.MONTH_DAYS[i])
        for x in range(1, 11):
            for y in range(1, 11):
                yield "times", lang, {"s": f"{x} x {y}", "x": x, "y": y, "a": x * y}, str(x * y)


ROWS = {lang: {} for lang in ("en", "es")}
for _relation, _lang, _values, _answer in _rows():
    _values["S"] = upper_first(str(_values.get("s", "")))
    ROWS[_lang].setdefault(_relation, []).append((_values, _answer))
WEIGHTS = {"capital": 8, "country": 3, "times": 3, "continent": 2, "to_spanish": 3, "to_english": 3, "single": 2}
# relation -> language -> noun phrases for the frames of manner.py
PHRASES = {
    "capital": (["the capital of {s}", "the capital city of {s}", "{s}'s capital"], ["la capital de {s}", "la ciudad capital de {s}"]),
    "country": (["the country whose capital is {a}", "the country with the capital {a}"], ["el país cuya capital es {a}", "el país con capital en {a}"]),
    "colour": (["the colour of {s}", "the color of {s}", "the usual colour of {s}"], ["el color de {s}", "el color que tiene {s}"]),
    "sound": (["the sound of {s}", "the sound made by {s}", "the noise of {s}"], ["el sonido de {s}", "el ruido de {s}"]),
    "legs": (["the number of legs of {s}", "how many legs {s} has"], ["el número de patas de {s}", "cuántas patas tiene {s}"]),
    "young": (["the word for a young {s}", "the name for a baby {s}"], ["el nombre de la cría de {s}", "la palabra para la cría de {s}"]),
    "opposite": (["the opposite of {s}", "the word opposite to {s}", "the contrary of {s}"], ["lo contrario de {s}", "el opuesto de {s}", "el antónimo de {s}"]),
    "symbol": (["the chemical symbol of {s}", "the symbol for {s}", "the chemical symbol for {s}"], ["el símbolo químico del {s}", "el símbolo del {s}"]),
    "sides": (["the number of sides of {s}", "how many sides {s} has"], ["el número de lados de {s}", "cuántos lados tiene {s}"]),
    "currency": (["the currency of {s}", "the money of {s}", "the currency used in {s}"], ["la moneda de {s}", "el dinero de {s}"]),
    "continent": (["the continent of {s}", "the continent where {s} is"], ["el continente de {s}", "el continente donde está {s}"]),
    "planet": (["the {o} planet from the Sun", "the {o} planet", "planet number {s}"], ["el {o} planeta", "el {o} planeta desde el Sol", "el planeta número {s}"]),
    "day_after": (["the day after {s}", "the day that follows {s}"], ["el día después del {s}", "el día siguiente al {s}"]),
    "day_before": (["the day before {s}"], ["el día antes del {s}", "el día anterior al {s}"]),
    "month_after": (["the month after {s}", "the next month after {s}"], ["el mes después de {s}", "el mes siguiente a {s}"]),
    "month_number": (["the {o} month of the year", "month number {n}"], ["el {o} mes del año", "el mes número {n}"]),
    "month_days": (["the number of days in {s}", "how many days {s} has"], ["el número de días de {s}", "cuántos días tiene {s}"]),
    "amount": (["the number of {o} in {s}", "how many {o} are in {s}"], ["el número de {o} en {s}", "cuántos {o} hay en {s}"]),
    "to_spanish": (["the Spanish word for {s}", "\"{s}\" in Spanish", "the Spanish for {s}"], ["la palabra española para {s}", "la traducción de {s} al español"]),
    "to_english": (["the English word for {a}", "\"{a}\" in English", "the English for {a}"], ["la palabra inglesa para {a}", "la traducción de {a} al inglés"]),
    "times": (["{s}", "{x} times {y}", "the product of {x} and {y}", "{x} multiplied by {y}", "{x} * {y}"], ["{s}", "{x} por {y}", "el producto de {x} y {y}", "{x} multiplicado por {y}"]),
}
THINK = {"en": "This is a simple fact that I know.", "es": "Es un dato sencillo que conozco."}


def pick(d, lang):
    """(relation, wordings, values, answer sentence, answer word)"""
    relation = d.coin({r: WEIGHTS.get(r, 1) for r in [*ROWS[lang], "single"]})
    if relation == "single":
        en, en_a, es, es_a = d.choice(D.SINGLE)
        wordings, sentence = (en, en_a) if lang == "en" else (es, es_a)
        return relation, (wordings[:-1], wordings[-1:]), {}, sentence, sentence.split()[-1].rstrip(".")
    values, answer = d.choice(ROWS[lang][relation])
    train, held, sentence = RELATIONS[relation][lang]
    return relation, (train, held), values, sentence.format(**values), str(answer)


def wording(d, relation, lang, wordings, values):
    """The bare question; never a held-out one in training."""
    train, held = wordings
    while True:
        if d.held or relation not in PHRASES or d.chance(0.5):
            return d.wording(train, held).format(**values)
        text = ask(d, FRAMES, [p.format(**values) for p in PHRASES[relation][lang == "es"]], lang)
        if bare(text) not in [bare(h.format(**values)) for h in held]:
            return text


def make(d, lang=None, thinking=False):
    lang = lang or d.language(0.4 if d.held else 0.5)
    relation, wordings, values, sentence, answer = pick(d, lang)
    text = dress(d, wording(d, relation, lang, wordings, values), lang)
    return Example(f"fact_{lang}", [user(text)], sentence, reasoning=THINK[lang], thinking=thinking,
                   check={"contains": [answer], "relation": relation})


def statement(d, lang):
    """A fact as plain text."""
    return pick(d, lang)[3]
