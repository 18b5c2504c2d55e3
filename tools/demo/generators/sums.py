"""Sums and differences of two numbers. A held-out pair of numbers is never trained, in any wording.

Numbers below 100 are answered at once; larger ones column by column, which a tiny network gets right."""
from generators import words as W
from generators.draw import is_held
from generators.example import Example, user
from generators.manner import FRAMES, ask, bare, dress, expand

ASK = {
    "+": {
        "en": (["What is {a} + {b}?", "{a} + {b}", "{a} + {b} =", "{a}+{b}", "{a}+{b}=?", "What is {a} plus {b}?", "Add {a} and {b}.",
                "Calculate {a} + {b}.", "Compute {a} plus {b}.", "How much is {a} + {b}?", "Sum {a} and {b}.",
                "What do you get if you add {a} and {b}?", "Tell me the sum of {a} and {b}.", "Please add {b} to {a}.",
                "I have {a} coins and I get {b} more. How many coins do I have?", "What is the sum of {a} and {b}?",
                "Solve: {a} + {b}", "Can you work out {a} + {b} for me?", "{a} plus {b}", "{a} and {b}, what do they add up to?",
                "There are {a} birds and {b} more arrive. How many are there?", "{a} + {b} is what?"],
               ["How much do {a} and {b} make together?", "Could you calculate {a} plus {b}?", "I need the result of {a} + {b}.",
                "What's {a} + {b}?", "Work out the sum: {a} + {b}", "Find {a} + {b}.", "A box has {a} nails and I put in {b} more. How many nails are in it?"]),
        "es": (["¿Cuánto es {a} + {b}?", "¿Cuánto es {a} más {b}?", "Suma {a} y {b}.", "Calcula {a} + {b}.", "{a} más {b}", "¿Cuánto suman {a} y {b}?",
                "Dime la suma de {a} y {b}.", "¿Cuál es la suma de {a} y {b}?", "Tengo {a} monedas y me dan {b} más. ¿Cuántas tengo?",
                "Resuelve: {a} + {b}", "Cuánto es {a}+{b}", "Por favor, suma {a} más {b}.", "¿Qué resulta de sumar {a} y {b}?", "{a} + {b} en total, ¿cuánto es?"],
               ["¿Me puedes calcular {a} más {b}?", "Necesito el resultado de {a} + {b}.", "¿Cuánto da {a} + {b}?", "Haz la suma de {a} y {b}."]),
    },
    "-": {
        "en": (["What is {a} - {b}?", "{a} - {b}", "{a}-{b}", "{a} - {b} =", "What is {a} minus {b}?", "Subtract {b} from {a}.", "Calculate {a} - {b}.",
                "How much is {a} minus {b}?", "Compute {a} minus {b}.", "I have {a} coins and I spend {b}. How many are left?",
                "What is the difference between {a} and {b}?", "Take {b} away from {a}."],
               ["Work out {a} - {b}.", "What's {a} minus {b}?", "I need the result of {a} - {b}."]),
        "es": (["¿Cuánto es {a} - {b}?", "¿Cuánto es {a} menos {b}?", "Resta {b} a {a}.", "Calcula {a} - {b}.", "{a} menos {b}",
                "Tengo {a} monedas y gasto {b}. ¿Cuántas me quedan?", "¿Cuál es la diferencia entre {a} y {b}?"],
               ["¿Me puedes calcular {a} menos {b}?", "Necesito el resultado de {a} - {b}."]),
    },
}
COLUMNS = {"en": "Column by column from the right: ", "es": "Columna a columna desde la derecha: "}
THINK = {"en": ("I add {a} and {b}. ", "I subtract {b} from {a}. "), "es": ("Sumo {a} y {b}. ", "Resto {b} a {a}. ")}
SMALLER = {"en": "{a} is smaller than {b}, so the result is negative. ", "es": "{a} es menor que {b}, así que el resultado es negativo. "}


def add_columns(a, b):
    x, y, carry, out = str(a)[::-1], str(b)[::-1], 0, []
    for i in range(max(len(x), len(y))):
        terms = [int(s[i]) for s in (x, y) if i < len(s)] + ([1] if carry else [])
        total = sum(terms)
        out.append(" + ".join(map(str, terms)) + f" = {total}" if len(terms) > 1 else f"{total}")
        carry = total >= 10
    return ", ".join(out) + "."


def subtract_columns(a, b):
    x, y, borrow, out = str(a)[::-1], str(b)[::-1], 0, []
    for i in range(len(x)):
        text, value = x[i], int(x[i])
        if i < len(y):
            text, value = f"{text} - {y[i]}", value - int(y[i])
        if borrow:
            text, value = text + " - 1", value - 1
        borrow = value < 0
        if borrow:
            text, value = text + " + 10", value + 10
        out.append(f"{text} = {value}" if text != x[i] else text)
    return ", ".join(out) + "."


def work(op, a, b, lang):
    if op == "+":
        return COLUMNS[lang] + add_columns(a, b)
    if a >= b:
        return COLUMNS[lang] + subtract_columns(a, b)
    return SMALLER[lang].format(a=a, b=b) + COLUMNS[lang] + subtract_columns(b, a)


def number(d):
    digits = d.coin({1: 12, 2: 25, 3: 38, 4: 20, 5: 3, 6: 2})
    return d.randint(0 if digits == 1 else 10 ** (digits - 1), 10 ** digits - 1)


def pair(d):
    """Two numbers of this side of the split. In training, small ones are as frequent as all others together."""
    while True:
        a, b = (d.randrange(d.choice([10, 100])), d.randrange(100)) if not d.held and d.chance(0.5) else (number(d), number(d))
        if not d.held and a < 10 and d.chance(0.5):
            a, b = b, a
        if a + b >= 20 and is_held(f"{min(a, b)}+{max(a, b)}") == d.held or (a + b < 20 and not d.held):
            return a, b


PHRASES = {"+": (["{a} + {b}", "{a} plus {b}", "the sum of {a} and {b}", "the total of {a} and {b}", "the result of adding {a} and {b}", "{a} and {b} together", "{a} added to {b}"],
                 ["{a} + {b}", "{a} más {b}", "la suma de {a} y {b}", "el total de {a} y {b}", "el resultado de sumar {a} y {b}"]),
           "-": (["{a} - {b}", "{a} minus {b}", "the difference of {a} and {b}", "the result of {a} minus {b}", "{a} take away {b}"], ["{a} - {b}", "{a} menos {b}", "la resta de {a} y {b}", "el resultado de {a} menos {b}"])}
COMPUTE = {"en": ["[Calculate|Compute|Evaluate|Solve|Determine|Do|Find out] {np}[.|, please.| for me.|]", "[Can|Could|Will] you [please |quickly |][compute|solve|evaluate|do|figure out] {np}?", "How much is {np}?", "How many is {np}?", "Add up: {np}"],
           "es": ["[Calcula|Computa|Resuelve|Averigua|Haz] {np}.", "¿[Puedes|Podrías|Sabes] [resolver|averiguar|hacer] {np}?", "¿Cuánto es {np}?", "¿Cuánto vale {np}?", "Quiero calcular {np}."]}
STORY = {"+": {"en": ["{who} [has|had|bought|counted] {a} {n}s and [gets|finds|receives|buys] {b} more. How many {n}s [are there|is that|are there in all|does {who} have]?", "There are {a} {n}s in one {m} and {b} in another. How many {n}s [are there|in total]?",
                      "If I have {a} {n}s and you have {b}, how many do we have?"],
               "es": ["{who} tiene {a} cosas y [recibe|compra|encuentra] {b} más. ¿Cuántas [tiene|hay|son]?", "Hay {a} cosas en una caja y {b} en otra. ¿Cuántas hay [en total|en las dos]?"]},
         "-": {"en": ["{who} [has|had] {a} {n}s and [loses|sells|eats|gives away] {b}. How many [are left|remain|{n}s are left]?"], "es": ["{who} tiene {a} cosas y [pierde|vende|regala] {b}. ¿Cuántas [quedan|le quedan]?"]}}


def question(d, op, a, b, lang):
    """The bare question; never a held-out wording in training."""
    train, held = ASK[op][lang]
    if d.held or d.chance(0.35):
        return d.wording(train, held).format(a=a, b=b)
    while True:
        if d.chance(0.25):
            text = d.choice(STORY[op][lang])
            text = expand(d, text.replace("{who}", d.choice(["I", "Tom", "She"] if d.chance(0.2) and lang == "en" else W.FIRST)).replace("{n}", d.choice(W.NOUNS)).replace("{m}", d.choice(W.NOUNS)))
        else:
            text = ask(d, COMPUTE if d.chance(0.4) else FRAMES, PHRASES[op][lang == "es"], lang)
        text = text.format(a=a, b=b)
        if bare(text) not in [bare(h.format(a=a, b=b)) for h in held]:
            return text


def solve(op, a, b, lang, thinking):
    """(reply, reasoning)"""
    final = f"{a} {op} {b} = {a + b if op == '+' else a - b}."
    steps = work(op, a, b, lang)
    if thinking:
        return final, THINK[lang][op == "-"].format(a=a, b=b) + steps
    return (final, "") if max(a, b) < 100 else (f"{steps}\n{final}", "")


def make(d, lang=None, thinking=False, op=None):
    lang = lang or d.language()
    op = op or d.coin({"+": 2, "-": 1})
    a, b = pair(d)
    if op == "-" and a < b and not d.chance(0.15):
        a, b = b, a
    reply, reasoning = solve(op, a, b, lang, thinking)
    text = dress(d, question(d, op, a, b, lang), lang) if d.chance(0.5) else question(d, op, a, b, lang)
    value = a + b if op == "+" else a - b
    return Example("sum" if op == "+" else "difference", [user(text)], reply, reasoning=reasoning, thinking=thinking,
                   check={"ends_with_number": value})
