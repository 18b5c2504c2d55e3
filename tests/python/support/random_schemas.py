"""Random JSON schemas of the part that the server enforces, and random values that satisfy them.

A Maker draws a schema together with a function that draws its values, so the values do not depend on any
reading of the schema."""

import json
import random

WORDS = ["a", "name", "city", "value", "kind", "n", "tags", "left", "x-1", "Größe", "with space", 'quo"te']
TEXTS = ["", "a", "Paris", "two words", 'say "hi"', "back\\slash", "tab\tand\nbreak", "ñandú", "日本", "😀", "</x>", "0"]
# Patterns with a function that draws a text: found by hand, not by the compiler under test.
PATTERNS = [
    ("^[a-z]{2,5}$", lambda r: "".join(r.choice("abcxyz") for _ in range(r.randint(2, 5)))),
    ("^[A-Z]{3}-[0-9]+$", lambda r: "".join(r.choice("ABZ") for _ in range(3)) + "-" + str(r.randint(0, 9999))),
    ("^(red|green|blue)?$", lambda r: r.choice(["", "red", "green", "blue"])),
    ("b+c", lambda r: r.choice(["", "zz ", "é"]) + "b" * r.randint(1, 3) + "c" + r.choice(["", "\"", " end"])),
    ("^#(?:[0-9a-f]{3}){1,2}$", lambda r: "#" + "".join(r.choice("09af") for _ in range(r.choice([3, 6])))),
    ("^[^a-m]{1,4}$", lambda r: "".join(r.choice("nzÑ 😀") for _ in range(r.randint(1, 4)))),
]
FORMATS = {
    "date": lambda r: f"{r.randint(1000, 9999)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}",
    "time": lambda r: f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}" + r.choice(["Z", "+01:30", ".25Z"]),
    "date-time": lambda r: FORMATS["date"](r) + "T" + FORMATS["time"](r),
    "uuid": lambda r: "-".join("".join(r.choice("0123456789abcdef") for _ in range(n)) for n in (8, 4, 4, 4, 12)),
    "ipv4": lambda r: ".".join(str(r.randint(0, 255)) for _ in range(4)),
    "email": lambda r: r.choice(["a", "x.y", "first+tag"]) + "@" + r.choice(["b.org", "mail.example.com"]),
}


class Maker:
    """`max_text`: every string has at most so many characters, so that a model comes to its end."""

    def __init__(self, seed: int, max_text: int | None = None):
        self.random = random.Random(seed)
        self.max_text = max_text
        self.definitions = {}

    def root(self):
        """(schema, draw)"""
        schema, draw = self.random.choice([self.object, self.object, self.array, self.any])(3)
        if self.definitions:
            schema = {**schema, "$defs": dict(self.definitions)}
        return schema, draw

    def any(self, depth: int):
        simple = [self.null, self.boolean, self.integer, self.number, self.string, self.pattern, self.format, self.enum,
                  self.const]
        nested = [self.array, self.tuple, self.object, self.map, self.any_of, self.one_of, self.all_of, self.type_list,
                  self.tree]
        return self.random.choice(simple + nested if depth > 0 else simple)(depth - 1)

    # ---- scalars ----

    def null(self, _):
        return {"type": "null"}, lambda: None

    def boolean(self, _):
        return {"type": "boolean"}, lambda: self.random.random() < 0.5

    def integer(self, _):
        r = self.random
        low, high = sorted(r.randint(-10 ** r.randint(1, 7), 10 ** r.randint(1, 7)) for _ in range(2))
        step = r.choice([1, 1, 1, 2, 5, 12])
        low, high = low // step * step, high // step * step
        schema = {"type": "integer", "minimum": low, "maximum": high}
        if r.random() < 0.3:
            schema = {"type": "integer", "exclusiveMinimum": low - 1, "exclusiveMaximum": high + 1}
        if step > 1:
            schema["multipleOf"] = step
        return schema, lambda: r.randint(low // step, high // step) * step

    def number(self, _):
        r = self.random
        low, high = sorted(r.randint(-100_000, 100_000) / 100 for _ in range(2))
        schema = {"type": "number", "minimum": low, "maximum": high}
        return schema, lambda: r.choice([low, high, r.randint(round(low * 100), round(high * 100)) / 100])

    def string(self, _):
        r = self.random
        low = r.choice([0, 0, 1, 3])
        high = low + r.randint(0, 12)
        if self.max_text is None and r.random() < 0.5:
            return {"type": "string"}, lambda: r.choice(TEXTS)
        return ({"type": "string", "minLength": low, "maxLength": high},
                lambda: "".join(r.choice("ab \"\\é日😀\n") for _ in range(r.randint(low, high))))

    def pattern(self, depth):
        pattern, draw = self.random.choice(PATTERNS)
        schema = {"type": "string", "pattern": pattern}
        if self.max_text is not None:
            schema["maxLength"] = self.max_text
        return schema, lambda: draw(self.random)

    def format(self, _):
        name, draw = self.random.choice(list(FORMATS.items()))
        schema = {"type": "string", "format": name}
        if name == "email" and self.max_text is not None:
            schema["maxLength"] = self.max_text
        return schema, lambda: draw(self.random)

    def enum(self, _):
        r = self.random
        values = r.sample([None, True, 0, -7, 2.5, *TEXTS, [1, "a"], {"k": [None]}, "日本語"], r.randint(1, 6))
        return {"enum": values}, lambda: r.choice(values)

    def const(self, _):
        value = self.random.choice(["fixed", 42, None, False, "q\"", [], {"a": 1, "b": "x"}])
        return {"const": value}, lambda: value

    # ---- containers ----

    def array(self, depth):
        r = self.random
        item, draw = self.any(depth)
        low = r.choice([0, 0, 1, 2])
        high = low + r.randint(0, 3)
        return ({"type": "array", "items": item, "minItems": low, "maxItems": high},
                lambda: [draw() for _ in range(r.randint(low, high))])

    def tuple(self, depth):
        parts = [self.any(depth) for _ in range(self.random.randint(1, 3))]
        n = len(parts)
        return ({"type": "array", "prefixItems": [schema for schema, _ in parts], "minItems": n, "maxItems": n},
                lambda: [draw() for _, draw in parts])

    def object(self, depth):
        r = self.random
        names = r.sample(WORDS, r.randint(0, 5))
        parts = {name: self.any(depth) for name in names}
        required = [name for name in names if r.random() < 0.6]
        schema = {"type": "object", "properties": {name: part[0] for name, part in parts.items()}, "required": required}
        if r.random() < 0.7:
            schema["additionalProperties"] = False
        return schema, lambda: {name: parts[name][1]() for name in names if name in required or r.random() < 0.5}

    def map(self, depth):
        r = self.random
        value, draw = self.any(depth)
        schema = {"type": "object", "additionalProperties": value, "maxProperties": 3}
        if self.max_text is not None:
            schema["propertyNames"] = {"maxLength": 8}
        return schema, lambda: {name: draw() for name in r.sample(["k", "é", "k2", "日本"], r.randint(0, 3))}

    # ---- combinations ----

    def any_of(self, depth):
        parts = [self.any(depth) for _ in range(self.random.randint(2, 3))]
        return {"anyOf": [schema for schema, _ in parts]}, lambda: self.random.choice(parts)[1]()

    def one_of(self, depth):
        kinds = self.random.sample(["circle", "square", "line"], 2)
        parts = [(kind, *self.any(depth)) for kind in kinds]
        schemas = [{"type": "object", "properties": {"kind": {"const": kind}, "v": schema}, "required": ["kind", "v"],
                    "additionalProperties": False} for kind, schema, _ in parts]

        def draw():
            kind, _, value = self.random.choice(parts)
            return {"kind": kind, "v": value()}

        return {"oneOf": schemas}, draw

    def all_of(self, depth):
        first, draw_first = self.any(depth)
        second, draw_second = self.any(depth)
        return ({"allOf": [{"type": "object", "properties": {"a": first}, "required": ["a"]},
                           {"properties": {"b": second, "n": {"type": "integer"}}, "required": ["n"]},
                           {"properties": {"n": {"minimum": 0, "maximum": 9}}}]},
                lambda: {"a": draw_first(), "b": draw_second(), "n": self.random.randint(0, 9)})

    def type_list(self, _):
        draws = {"null": lambda: None, "boolean": lambda: True, "integer": lambda: self.random.randint(-99, 99),
                 "string": lambda: "text"}
        types = self.random.sample(list(draws), 2)
        schema = {"type": types, "minimum": -99, "maximum": 99, "maxLength": 6}
        return schema, lambda: draws[self.random.choice(types)]()

    def tree(self, _):
        """Through $defs: recursive, or, where a model must come to its end, with children of another kind."""
        child = "node" if self.max_text is None else "leaf"
        values = {"value": {"type": "integer", "minimum": 0, "maximum": 99}}
        rest = {"required": ["value"], "additionalProperties": False}
        self.definitions["leaf"] = {"type": "object", "properties": values, **rest}
        self.definitions["node"] = {"type": "object", **rest, "properties": {
            **values, "children": {"type": "array", "items": {"$ref": f"#/$defs/{child}"}, "maxItems": 2}}}

        def draw(depth=2 if child == "node" else 1):
            node = {"value": self.random.randint(0, 99)}
            if depth > 0 and self.random.random() < 0.7:
                node["children"] = [draw(depth - 1) for _ in range(self.random.randint(0, 2))]
            return node

        return {"$ref": "#/$defs/node"}, draw


def written(value, style: int) -> str:
    """A value as models write it: on one line, compact, indented."""
    forms = [{}, {"separators": (",", ":")}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}]
    return json.dumps(value, ensure_ascii=False, **forms[style % len(forms)])
