"""Tool lists, requests that need a call, results, and replies that use the result.

Held out by hash of their text: pairs of a verb and an object (hence names and schemas), values, real-looking tools; and some
request wordings."""
import json

from generators import tool_data as D
from generators import words as W
from generators.draw import is_held
from generators.example import Example, assistant, dumps, system, tool, user
from generators.manner import bare, dress, expand
from generators.tool_wordings import ASK, ASK_HELD, ASK_WIDE, BY_NAME, BY_NAME_HELD, BY_NAME_WIDE, GENERIC_WIDE, MORE_TOOLS, QUESTIONS


def _real(text):
    lines = (line.split("|") for line in text.strip().splitlines())
    return [(name, text, _join(params), en.split(";"), es.split(";")) for name, text, params, en, es in lines]


def _join(params):
    """name:type:description:kind items; a comma inside a description does not split."""
    out, pending = [], ""
    for piece in params.split(",") if params else []:
        pending = f"{pending},{piece}" if pending else piece
        if pending.count(":") >= 3 and pending.rsplit(":", 1)[1] in D.KINDS:
            name, kind = pending.split(":")[0], pending.rsplit(":", 1)[1]
            out.append((name, pending.split(":")[1], ":".join(pending.split(":")[2:-1]), kind))
            pending = ""
    assert not pending, params
    return out


REAL = _real(D.REAL)
HELD_NAMES = {t[0] for t in REAL if is_held(t[0])}
MORE = [t for t in _real(MORE_TOOLS) if not is_held(t[0])]   # training alone
PAIRS = [(f"{v[0]} {o[0]}", v, o) for v in D.VERBS for o in D.OBJECTS]
CASES = ["snake"] * 6 + ["camel"] * 2 + ["kebab", "dot", "pascal"]


def join_name(d, parts):
    case = d.choice(CASES)
    if case == "camel":
        return parts[0] + "".join(p.capitalize() for p in parts[1:])
    if case == "pascal":
        return "".join(p.capitalize() for p in parts)
    return {"snake": "_", "kebab": "-", "dot": "."}[case].join(parts)


def spoken(name):
    return name.replace("_", " ")


def property_of(d, kind, description, options=None):
    items = [("type", kind)] + ([("description", description)] if description else [])
    if kind == "array":
        items.append(("items", {"type": "string"}))
    if options:
        items.insert(d.randint(1, len(items)), ("enum", options))
    if d.chance(0.1):
        items.reverse()
    return dict(items)


def schema(d, name, description, properties, required):
    params = {"type": "object", "properties": properties, "required": required}
    if not required and d.chance(0.5):
        del params["required"]
    if d.chance(0.08):
        params["additionalProperties"] = False
    function = {"name": name}
    if description:
        function["description"] = description
    function["parameters"] = params
    return {"type": "function", "function": function}


class Tool:
    """One tool: its schema, and how people ask for it."""

    def __init__(self, spec, params, ask):
        self.spec, self.params, self.ask = spec, params, ask
        self.name = spec["function"]["name"]


# Tools that could answer a question out of scope, or a sum: never offered beside one that must go without a call.
ANSWERING = set("""get_weather get_forecast get_current_time get_time calculator calculate add multiply web_search search get_news get_recipe get_population
define_word translate get_distance get_stock_price call_contact get_current_date""".split())


def real_tool(d, safe=False):
    while True:
        name, description, params, en, es = d.choice(MORE) if not (d.held or safe) and d.chance(0.55) else d.entity(REAL)
        if not safe or name not in ANSWERING:
            break
    shown = {p: p for p, _, _, _ in params}
    if d.chance(0.2):
        name = join_name(d, name.split("_"))
    elif not d.held and d.chance(0.4):   # the name must come from the list, not from memory
        name = join_name(d, d.choice([[strange_word(d), strange_word(d)], name.split("_") + [strange_word(d)], [strange_word(d)] + name.split("_")]))
        shown = {p: strange_word(d) + f"_{p}" if d.chance(0.3) else p for p in shown}
    properties = {shown[p]: property_of(d, t, text if d.chance(0.8) else "") for p, t, text, _ in params}
    spec = schema(d, name, description, properties, list(properties))

    def ask(lang):
        values = {p: D.KINDS[k](d) for p, _, _, k in params}
        text = d.choice(es if lang == "es" else en).format(**{k: say(d, v, lang) for k, v in values.items()})
        return text, {shown[p]: v for p, v in values.items()}

    return Tool(spec, properties, ask)


def strange_word(d):
    """Part of a name that no list holds."""
    return d.choice([W.made_up(d), W.splice(d), W.splice(d), d.choice(W.NOUNS + W.VERBS_EN + W.ADJECTIVES), W.noise(d).lower()]).replace("ñ", "n")


def say(d, value, lang):
    if value is True or value is False:
        return d.choice({True: ["true", "on", "yes"], False: ["false", "off", "no"]}[value] if lang == "en" else
                        {True: ["true", "sí"], False: ["false", "no"]}[value])
    if isinstance(value, list):
        last = f" {'y' if lang == 'es' else 'and'} "
        return ", ".join(value) if d.chance(0.5) else last.join(filter(None, [", ".join(value[:-1]), value[-1]]))
    if isinstance(value, str):
        return f'"{value}"' if d.chance(0.08) else value
    return dumps(value)


def made_param(d, used):
    """(name, type, description, enum options, value function, en phrases, es phrases)"""
    while True:
        names, kind, texts, value, en, es = d.choice(D.PARAMS)
        options = None
        if isinstance(value, tuple):
            value, options = value
        name = d.choice(names)
        if d.chance(0.25):
            name = d.choice([f"{d.choice(W.NOUNS)}_{name}", W.made_up(d), f"{name}_{d.choice(W.NOUNS)}", d.choice(W.NOUNS)])
            en = es = []
        if d.chance(0.15):
            name = join_name(d, name.split("_")).replace("-", "_").replace(".", "_")
        if name not in used:
            used.add(name)
            return name, kind, d.choice(texts) if d.chance(0.8) else "", options, value, en, es


ASKING = {"get", "find", "check", "show", "list", "measure", "estimate", "count", "track", "inspect"}   # verbs a plain question can stand for


HELD_OPENERS = {bare(w.split("{")[0]) for wordings in (ASK_HELD, BY_NAME_HELD) for lang in wordings for w in wordings[lang]} - {""}


def opener(d):
    """One to three words that mean nothing here, as a stand-in for every wording that no list holds."""
    while True:
        text = W.salad(d, 1, 3).capitalize() if d.chance(0.7) else d.choice(W.VERBS_EN).capitalize()
        if bare(text) not in HELD_OPENERS:
            return text


def stray(d, shown, value, lang):
    """A parameter among words that mean nothing; strings are quoted, since nothing else says where they begin."""
    v = f'"{value}"' if isinstance(value, str) else say(d, value, lang)
    return " ".join(filter(None, [d.choice(["", d.choice(W.FUNCTION), W.made_up(d)]), *d.choice([(shown, d.choice(W.FUNCTION), v), (shown, v), (v, d.choice(W.FUNCTION), shown), (shown, W.made_up(d), v)])]))


def sentence(d, lang, do, args):
    """A request to `do` something, in one of the many ways people ask."""
    pattern = d.choice(ASK_WIDE[lang]) if not d.held and d.chance(0.3) else d.wording(ASK[lang], ASK_HELD[lang])
    text = expand(d, pattern)
    if "{r}" in text:
        text = text.replace("{r}", opener(d))
    for slot, value in (("{do}", do), ("{low}", do[0].lower() + do[1:]), ("{args}", args)):
        text = text.replace(slot, value)
    return text


def made_tool(d):
    """A tool composed of a verb, an object and parameters, or of made-up words."""
    strange = d.chance(0.25 if d.held else 0.4)
    if strange:
        word = lambda: W.made_up(d) if d.held or d.chance(0.3) else strange_word(d)
        verb, noun = (word(),) * 2, (word(),)
        noun_es = noun[0]
    else:
        _, verb, noun = d.entity(PAIRS)
        while not d.held and f"{verb[0]}_{noun[0]}" in HELD_NAMES:
            _, verb, noun = d.entity(PAIRS)
        noun_es = noun[1].replace("-", " ")
    parts = [verb[0], noun[0]]
    if d.chance(0.15):
        parts.insert(d.randint(1, 2), d.choice([*W.NOUNS, *W.ADJECTIVES, W.made_up(d)]) if d.chance(0.5) else d.choice(["v2", "now", "by_id", "data", "info", "item", "tool", "service"]))
    elif d.chance(0.1):
        parts = [d.choice(["api", "home", "shop", "my", "crm", "bank"])] + parts
    name = join_name(d, parts) if not d.chance(0.04) else parts[0]
    description = d.choice(["{V} the {n}", "{V} a {n}", "{V} the {n}.", "Tool to {v} the {n}", "{V}s the {n}", "{V} one {n} in the system."]).format(V=verb[0].capitalize(), v=verb[0], n=noun[0])
    used = set()
    params = [made_param(d, used) for _ in range(d.coin({0: 3, 1: 30, 2: 40, 3: 25, 4: 6}))]
    required = [p[0] for p in params if not d.chance(0.2)]
    properties = {p[0]: property_of(d, p[1], p[2], p[3]) for p in params}
    spec = schema(d, name, description if d.chance(0.9) or strange else "", properties, required)

    def ask(lang):
        chosen = [p for p in params if p[0] in required or d.chance(0.4)]
        values = {p[0]: p[4](d) for p in chosen}
        said = list(chosen)
        if d.chance(0.3):
            d.shuffle(said)
        pieces = []
        generic = D.GENERIC[lang] + (D.GENERIC_HELD[lang] if d.held else [])
        wide = not d.held and d.chance(0.5)
        for p in said:
            own = p[6] if lang == "es" else p[5]
            unclear = sum(q[1] == p[1] and q[4] == p[4] for q in chosen) > 1   # two alike: say the name
            phrase = d.choice(own) if own and not unclear and d.chance(0.7) else d.choice(generic)
            if wide and d.chance(0.7):
                phrase = expand(d, d.choice(GENERIC_WIDE[lang]))
            shown = p[0] if d.chance(0.4) else spoken(p[0])
            pieces.append(phrase.format(p=shown, v=say(d, values[p[0]], lang)))
            if not d.held and d.chance(0.05):
                pieces[-1] = stray(d, shown, values[p[0]], lang)
        args = "".join((", " if d.chance(0.15) else " ") + x for x in pieces)
        if not d.held and lang == "en" and d.chance(0.4 if strange else 0):   # a strange name in words
            do = f"{verb[0].capitalize()} {d.choice(['the', 'the', 'a', 'my'])} {noun[0]}"
            text = sentence(d, lang, do, args)
        elif strange or d.chance(0.15):
            pattern = d.choice(BY_NAME_WIDE[lang]) if not d.held and d.chance(0.3) else d.wording(BY_NAME[lang], BY_NAME_HELD[lang])
            text = expand(d, pattern).replace("{name}", name).replace("{args}", args)
            if "{r}" in text:
                text = text.replace("{r}", opener(d))
        elif not d.held and verb[0] in ASKING and d.chance(0.5):
            text = expand(d, d.choice(QUESTIONS[lang])).replace("{n}", noun_es if lang == "es" else noun[0]).replace("{args}", args)
            text = text[0].upper() + text[1:] if d.chance(0.8) else text
        else:
            do = f"{verb[1].capitalize()} {noun_es}" if lang == "es" else f"{verb[0].capitalize()} {d.choice(['the', 'the', 'a', 'my'])} {noun[0]}"
            text = sentence(d, lang, do, args)
        return text, {p[0]: values[p[0]] for p in params if p[0] in values}

    return Tool(spec, properties, ask)


def tool_list(d, safe=False):
    tools, names = [], set()
    for _ in range(d.coin({1: 35, 2: 35, 3: 22, 4: 8})):
        t = real_tool(d, safe) if d.chance(0.3) else made_tool(d)
        if t.name not in names:
            names.add(t.name)
            tools.append(t)
    return tools


# Results ------------------------------------------------------------------------------------------

def result_value(d):
    kind = d.coin({"word": 3, "int": 4, "float": 2, "text": 2, "bool": 1, "code": 1, "city": 1, "list": 1})
    if kind == "word":
        return d.entity(D.WORDS_RESULT)
    if kind == "int":
        return D.KINDS["int"](d)
    if kind == "float":
        return D.KINDS["number"](d)
    if kind == "bool":
        return d.chance(0.5)
    if kind == "list":
        return [d.entity(W.NOUNS) for _ in range(d.randint(1, 3))]
    if kind == "text" and not d.held and d.chance(0.5):
        return W.salad(d, 1, 6)
    return D.KINDS[{"text": "noun2", "code": "code", "city": "city"}[kind]](d)


def result(d):
    """(text of the tool message, reply pieces, whether it is an error)"""
    shape = d.coin({"object": 60, "text": 18, "number": 8, "error": 8, "list": 6})
    if shape == "error":
        e = d.choice(D.ERRORS)
        return d.choice([dumps({"error": e}), f"Error: {e}", dumps({"status": "error", "error": e})]), e, True
    if shape == "number":
        v = dumps(d.choice([D.KINDS["int"](d), D.KINDS["number"](d)]))
        return v, v, False
    if shape == "text":
        v = d.choice([D.KINDS["noun2"](d), D.KINDS["phrase"](d), d.entity(D.WORDS_RESULT), f"{D.KINDS['number'](d)} {d.choice(['euros', 'km', 'degrees', 'kg', 'EUR'])}"])
        return v, v, False
    if shape == "list":
        v = [d.entity(W.NOUNS) for _ in range(d.randint(2, 4))]
        return dumps(v), ", ".join(v), False
    keys = d.sample(D.RESULT_KEYS, d.coin({1: 3, 2: 5, 3: 3, 4: 1}))
    if d.chance(0.2):
        keys[0] = d.choice([W.made_up(d), d.choice(W.NOUNS), f"{d.choice(W.NOUNS)}_{keys[0]}"])
    v = {k: result_value(d) for k in keys}
    if d.chance(0.06):
        v = {d.choice(W.NOUNS): v}
    text = d.coin({"spaced": 6, "compact": 4, "indented": 1})
    text = dumps(v) if text == "spaced" else json.dumps(v, ensure_ascii=False, **({"separators": (",", ":")} if text == "compact" else {"indent": 2}))
    return text, flat(v), False


def flat(x):
    """How a reply says a JSON value."""
    if isinstance(x, dict):
        return ", ".join(f"{spoken(k)}: {flat(y)}" for k, y in x.items())
    return ", ".join(x) if isinstance(x, list) else x if isinstance(x, str) else dumps(x)


REPORT = {"en": "Here is the result: {r}.", "es": "Este es el resultado: {r}."}
FAILED = {"en": "The tool reported an error: {r}.", "es": "La herramienta dio un error: {r}."}
THINK_CALL = {"en": "I need the tool {n}.", "es": "Necesito la herramienta {n}."}
THINK_TWO = {"en": "I need two calls of {n}.", "es": "Necesito dos llamadas a {n}."}
THINK_RESULT = {"en": "The tool has answered. I report what it says.", "es": "La herramienta ha respondido. Digo lo que dice."}
AND_ALSO = {"en": " And also: ", "es": " Y además: "}


def report(results, lang):
    good = [r for r in results if not r[2]]
    bad = [r for r in results if r[2]]
    out = [REPORT[lang].format(r="; ".join(r[1] for r in good))] if good else []
    return " ".join(out + [FAILED[lang].format(r="; ".join(r[1] for r in bad))] if bad else out)


def exchange(d, tools, lang):
    """One request: (user text, calls, think text)."""
    t = d.choice(tools)
    text, args = t.ask(lang)
    if d.chance(0.2):
        text = dress(d, text, lang, careless=False)
    calls = [{"name": t.name, "arguments": args}]
    if t.params and d.chance(0.06):
        more, args2 = t.ask(lang)
        if args2 != args:
            text += AND_ALSO[lang] + more
            calls.append({"name": t.name, "arguments": args2})
    return text, calls, (THINK_TWO if len(calls) > 1 else THINK_CALL)[lang].format(n=t.name)


# Earlier exchanges over the same tools: many, since each is trained and the tool list is the longest part of the text.
EARLIER = {0: 38, 1: 16, 2: 13, 3: 10, 4: 8, 6: 8, 9: 7}


def make(d, lang=None, thinking=False, want=None):
    """want: "call", "result" or None for either; earlier finished exchanges may come first."""
    lang = lang or d.language(0.3)
    tools = tool_list(d)
    messages = []
    if d.chance(0.15):
        messages.append(system(d.choice(["You are a helpful assistant.", "Use the tools when they help.", "You can call tools.", "Eres un asistente útil."])))
    for _ in range(0 if d.held else d.coin(EARLIER)):
        text, calls, _ = exchange(d, tools, lang)
        results = [result(d) for _ in calls]
        messages += [user(text), assistant("", calls)] + [tool(r[0]) for r in results] + [assistant(report(results, lang))]
    text, calls, think = exchange(d, tools, lang)
    messages.append(user(text))
    specs = [t.spec for t in tools]
    if (want or d.coin({"call": 3, "result": 2})) == "call":
        return Example("tool_call", messages, calls=calls, reasoning=think, thinking=thinking, tools=specs, check={"calls": calls})
    results = [result(d) for _ in calls]
    keep = think if thinking and d.chance(0.7) else ""
    messages.append(assistant("", calls, keep))
    messages += [tool(r[0]) for r in results]
    values = [v for r in results for v in r[1].split(", ")]
    return Example("tool_result", messages, report(results, lang), reasoning=THINK_RESULT[lang], thinking=thinking, tools=specs, check={"contains": values})
