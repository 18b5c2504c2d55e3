"""The mixture: which example comes at which index, for training and for the held-out categories. Standard library only."""
from generators import chat
from generators import fact_data as D
from generators import facts
from generators import scope
from generators import sums
from generators import tool_calls
from generators import words as W
from generators.draw import Draw
from generators.example import Example, assistant, segments, system, user

SEED = 20261130
# Share of examples (not of tokens: a tool example is ten times as long as a fact).
MIX = {"tools": 42, "sum": 18, "fact": 30, "scope": 7, "talk": 4, "memory": 4, "repeat": 11, "copies": 5, "count": 2, "json": 4, "turns": 7, "tools_other": 5, "plain": 2}
SYSTEMS = ["You are a helpful assistant.", "You are a helpful assistant", "Be concise.", "Answer briefly.", "You are a friendly assistant.", "Be polite.", "You are an expert.", "Do your best.",
           "Eres un asistente útil.", "Sé breve.", "Responde con amabilidad."]
IN_SPANISH = ["Answer in Spanish.", "Always answer in Spanish.", "Reply in Spanish, please.", "Responde siempre en español.", "Responde en español."]
IN_ENGLISH = ["Answer in English.", "Always answer in English.", "Responde siempre en inglés.", "Responde en inglés."]


def basic(d, lang=None, thinking=False):
    """One self-contained question of any kind but tools."""
    kind = d.coin({"sum": 4, "fact": 5, "scope": 3, "talk": 1, "repeat": 1})
    make = {"sum": sums.make, "fact": facts.make, "scope": scope.make, "talk": chat.small_talk, "repeat": chat.repeat}[kind]
    return make(d, lang, thinking)


def in_language(d, thinking):
    """A question in one language and a system prompt that asks for the other (or the same)."""
    ask, say = d.language(0.5), d.language(0.5)
    if d.chance(0.6):
        relation = d.choice(["capital", "colour", "legs", "sides", "continent"])
        row = d.randrange(len(facts.ROWS["en"][relation]))
        values, answer = facts.ROWS[say][relation][row]
        text = facts.wording(d, relation, ask, facts.RELATIONS[relation][ask][:2], facts.ROWS[ask][relation][row][0])
        reply, think, check = facts.RELATIONS[relation][say][2].format(**values), facts.THINK[say], {"contains": [answer]}
    else:
        text = scope.question(d, ask)
        reply, think, check = scope.REFUSAL[say], scope.THINK[say], {"contains": [scope.SAYS[say]]}
    return Example("system", [system(d.choice(IN_SPANISH if say == "es" else IN_ENGLISH)), user(text)], reply, reasoning=think, thinking=thinking, check=check)


def follow_up(d, thinking):
    """'And of Spain?' after a capital."""
    lang = d.language()
    rows = facts.ROWS[lang]["capital"]
    (v1, _), (v2, a2) = d.sample(rows, 2)
    train, held, sentence = facts.RELATIONS["capital"][lang]
    more = d.choice(["And of {s}?", "And {s}?", "What about {s}?"] if lang == "en" else ["¿Y la de {s}?", "¿Y de {s}?", "¿Y {s}?"]).format(**v2)
    messages = [user(d.wording(train, held).format(**v1)), assistant(sentence.format(**v1)), user(more)]
    return Example("turns", messages, sentence.format(**v2), reasoning=facts.THINK[lang], thinking=thinking, check={"contains": [a2]})


def turns(d, thinking):
    """Several turns; the last one is the target and every reply is trained."""
    kind = d.coin({"mixed": 5, "follow": 2, "language": 2, "named": 1})
    if kind == "follow":
        return follow_up(d, thinking)
    if kind == "language":
        return in_language(d, thinking)
    if kind == "named":
        return chat.named(d, None, thinking)
    messages = [system(d.choice(SYSTEMS))] if d.chance(0.3) else []
    for _ in range(d.randint(1, 6) if d.held or d.chance(0.92) else d.randint(7, 25)):
        e = basic(d)
        messages += e.messages + [assistant(e.reply)]
    e = basic(d, None, thinking)
    return Example("turns", messages + e.messages, e.reply, reasoning=e.reasoning, thinking=thinking, check=e.check)


def copies(d, thinking):
    """Several things to repeat or to write as JSON: much to copy, little else. For training alone."""
    messages = []
    make = lambda: d.choice([chat.repeat, chat.json_object])
    for _ in range(d.randint(2, 10)):
        e = make()(d)
        messages += e.messages + [assistant(e.reply)]
    e = make()(d, None, thinking)
    return Example("copies", messages + e.messages, e.reply, reasoning=e.reasoning, thinking=thinking, check=e.check)


def tools_other(d, thinking):
    """Tools are offered and none fits."""
    e = basic(d, None, thinking)
    harmless = e.category.startswith("fact") and e.check.get("relation") not in ("times", "to_spanish", "to_english") or e.category in ("chat", "repeat")
    e.tools = [t.spec for t in tool_calls.tool_list(d, safe=not harmless)]
    e.category = "tools_not_needed"
    return e


def any_example(d):
    thinking = d.chance(0.4)
    kind = d.coin({k: v for k, v in MIX.items() if k != "plain"})
    if kind == "tools":
        return tool_calls.make(d, None, thinking)
    if kind == "turns":
        return turns(d, thinking)
    if kind == "copies":
        return copies(d, thinking)
    if kind == "tools_other":
        return tools_other(d, thinking)
    make = {"sum": sums.make, "fact": facts.make, "scope": scope.make, "talk": chat.small_talk, "memory": chat.memory, "repeat": chat.repeat, "count": chat.count, "json": chat.json_object}[kind]
    e = make(d, None, thinking)
    if d.chance(0.12):
        e.messages.insert(0, system(d.choice(SYSTEMS) if d.chance(0.8) else " ".join(W.sentence(d) for _ in range(d.randint(1, 12)))))
    return e


def plain(d):
    """Text without a chat around it, for raw prompts."""
    lang = d.language()
    out = []
    for _ in range(d.randint(1, 5)):
        kind = d.coin({"fact": 5, "sum": 3, "list": 1, "count": 1})
        if kind == "fact":
            out.append(facts.statement(d, lang))
        elif kind == "sum":
            a, b = sums.pair(d)
            out.append(f"{a} + {b} = {a + b}." if max(a, b) < 100 else sums.work("+", a, b, lang) + f" {a} + {b} = {a + b}.")
        elif kind == "list":
            out.append(d.choice(chat.LISTS[lang])[1])
        else:
            out.append(", ".join(map(str, range(1, d.randint(3, 60)))) + ".")
    return [(d.choice([" ", "\n"]).join(out) + "<|endoftext|>", True)]


def document(index, seed=SEED):
    """Training segments number `index`: [(text, trained)]."""
    d = Draw(seed, "train", index)
    return plain(d) if d.chance(MIX["plain"] / 100) else segments(any_example(d))


def held_out(category, count, seed=SEED):
    """Held-out examples of one scored category, the same for training's own check and for score.py."""
    for i in range(count):
        d = Draw(f"{seed}:{category}", "held", i)
        thinking = category == "thinking" or (category.startswith("tool") and i % 4 == 3)
        if category == "thinking":
            e = d.choice([lambda: sums.make(d, None, True), lambda: facts.make(d, None, True), lambda: scope.make(d, None, True)])()
        else:
            e = {"sum": lambda: sums.make(d, None, False, "+"), "difference": lambda: sums.make(d, None, False, "-"), "fact_en": lambda: facts.make(d, "en"),
                 "fact_es": lambda: facts.make(d, "es"), "scope": lambda: scope.make(d), "tool_call": lambda: tool_calls.make(d, None, thinking, "call"),
                 "tool_result": lambda: tool_calls.make(d, None, thinking, "result"), "tools_not_needed": lambda: tools_other(d, False), "repeat": lambda: chat.repeat(d),
                 "count": lambda: chat.count(d), "json": lambda: chat.json_object(d), "chat": lambda: chat.small_talk(d), "memory": lambda: chat.memory(d), "turns": lambda: turns(d, False)}[category]()
        yield e


CATEGORIES = ["sum", "difference", "fact_en", "fact_es", "tool_call", "tool_result", "tools_not_needed", "scope", "thinking", "repeat", "count", "json", "chat", "memory", "turns"]
