"""What the compiled schemas accept and what comes out of them, held against the package jsonschema."""

import json
import random

import pytest
from random_schemas import Maker, written

FEW, MANY = range(250), range(250, 2000)


def check_schemas(tool, is_valid, seeds):
    n_values = n_walks = n_spoiled = n_refused = 0
    for seed in seeds:
        maker = Maker(seed)
        schema, draw = maker.root()
        values = [draw() for _ in range(8)]
        texts = [written(value, i) for i, value in enumerate(values)]
        assert all(is_valid(schema, text) for text in texts), (seed, schema)  # the generator's own test
        spoiled = [spoil(maker.random, text) for text in texts]
        answer = tool.ask(schema, texts + spoiled, walks=4, seed=seed)
        assert "error" not in answer, (seed, schema, answer)
        for text, accepted in zip(texts, answer["accepts"]):
            assert accepted, f"seed {seed}: {schema} should take {text}"
        for text in answer["walks"]:
            assert is_valid(schema, text), f"seed {seed}: {schema} gave {text}"
        for text, accepted in zip(spoiled, answer["accepts"][len(texts):]):
            assert not accepted or is_valid(schema, text), f"seed {seed}: {schema} took {text}"
            n_refused += not accepted
        n_values += len(texts)
        n_walks += len(answer["walks"])
        n_spoiled += len(spoiled)
    assert n_walks > 3 * len(seeds) and n_refused > n_spoiled / 2


def spoil(r: random.Random, text: str) -> str:
    """One character more, less or other."""
    at = r.randrange(len(text))
    return r.choice([text[:at] + text[at + 1:], text[:at] + r.choice('0 9"}],:ae\\') + text[at:],
                     text[:at] + r.choice('0 9"}],:ae\\') + text[at + 1:]])


def test_random_schemas(tool, is_valid):
    check_schemas(tool, is_valid, FEW)


@pytest.mark.long
def test_many_random_schemas(tool, is_valid):
    check_schemas(tool, is_valid, MANY)


def test_optional_properties_keep_their_order(tool):
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in "abc"}, "required": ["b"]}
    texts = ['{"b":1}', '{"a":1,"b":2}', '{"b":1,"c":2}', '{"a":1,"b":2,"c":3}',
             '{"a":1}', '{}', '{"b":1,"a":2}', '{"c":1,"b":2}', '{"b":1,"b":2}', '{"b":1,"d":2}', '{"b":1,}']
    assert tool.ask(schema, texts)["accepts"] == [True] * 4 + [False] * 7


def test_white_space_is_bounded(tool):
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "null"}}}}
    good = ['{"a":[null,null]}', '{ "a": [ null, null ] }', '{\n  "a": [\n    null,\n    null\n  ]\n}', "{\n}", "{ }"]
    bad = ['{"a" :[]}', '{"a":  []}', '{  "a":[]}', '{"a":[null ,null]}', '{\n\n"a":[]}', '{"a":\n[]}', '{"a":[]} ',
           ' {"a":[]}', '{"a":[null,  null]}', "{\r\n}", "{\n" + " " * 41 + "}"]
    assert tool.ask(schema, good + bad)["accepts"] == [True] * len(good) + [False] * len(bad)


def test_strings_are_json_and_unicode(tool):
    good = ['""', '"a\\n\\"\\\\\\/"', '"\\u00e9\\uD83D\\uDE00"', '"ñ😀"', '"\x7f"']
    bad = ['"', '"\n"', '"\\x"', '"\\u12"', '"\\ud83d"', '"\\ude00"', '"\\ud83dx"', "'a'", '"a"b']
    assert tool.ask({"type": "string"}, good + bad)["accepts"] == [True] * len(good) + [False] * len(bad)
    assert tool.ask({"type": "string", "minLength": 2, "maxLength": 3}, [
        '"😀é"', '"\\ud83d\\ude00\\n"', '"abc"', '"a"', '"abcd"', '"\\n"'])["accepts"] == [True] * 3 + [False] * 3


def test_other_properties_come_last_and_never_repeat_a_declared_name(tool):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "boolean"},
              "propertyNames": {"pattern": "^[ab]"}}
    texts = ['{"a":1,"b":true}', '{"ab":true,"b":false}', '{"b":true,"a":1}', '{"a":true}', '{"b":1}', '{"c":true}',
             '{"\\u0061":true}']
    assert tool.ask(schema, texts)["accepts"] == [True, True, False, False, False, False, False]


@pytest.mark.parametrize("schema, path", [
    ({"type": "object", "properties": {"a": {"not": {}}}}, "schema.properties.a.not"),
    ({"type": "array", "items": {"if": {}, "then": {}}}, "schema.items.if"),
    ({"type": "array", "contains": {"type": "null"}}, "schema.contains"),
    ({"type": "array", "uniqueItems": True}, "schema.uniqueItems"),
    ({"type": "object", "dependentRequired": {"a": ["b"]}}, "schema.dependentRequired"),
    ({"type": "string", "format": "idn-email"}, "schema.format"),
    ({"type": "string", "pattern": "(?=a)b"}, "schema.pattern"),
    ({"type": "string", "pattern": "^\\p{L}$"}, "schema.pattern"),
    ({"type": "number", "multipleOf": 0.3}, "schema.multipleOf"),
    ({"type": "integer", "multipleOf": 5000}, "schema.multipleOf"),
    ({"oneOf": [{"type": "string"}, {"minLength": 2}]}, "schema.oneOf"),
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "schema.oneOf"),
    ({"type": "object", "minProperties": 3}, "schema.minProperties"),
    ({"$ref": "https://example.org/schema"}, "schema.$ref"),
    ({"type": "string", "pattern": "(a|b)*a(a|b){16}"}, "schema.pattern"),
    ({"enum": [{"a": 1}], "required": ["a"]}, "schema.enum[0]"),
    ({"anyOf": [{"items": {"unevaluatedItems": False}}]}, "schema.anyOf[0].items.unevaluatedItems"),
])
def test_what_cannot_be_honoured_is_named(tool, schema, path):
    error = tool.ask(schema)["error"]
    assert error["path"] == path and error["unsupported"], error


@pytest.mark.parametrize("schema, path", [
    ({"type": "strin"}, "schema.type"), ({"type": []}, "schema"), (7, "schema"), ({"items": 3}, "schema.items"),
    ({"minimum": "1"}, "schema.minimum"), ({"minLength": -1}, "schema.minLength"), ({"enum": 1}, "schema.enum"),
    ({"pattern": "("}, "schema.pattern"), ({"pattern": 1}, "schema.pattern"), ({"required": [1]}, "schema.required[0]"),
    ({"properties": []}, "schema.properties"), ({"$ref": "#/$defs/x"}, "schema.$ref"), ({"anyOf": []}, "schema.anyOf"),
    ({"type": "string", "minLength": 3, "maxLength": 2}, "schema"), (False, "schema"), ({"$ref": "#"}, "schema"),
    ({"type": "integer", "minimum": 1, "maximum": 0}, "schema"), ({"allOf": [{"type": "null"}, {"type": "string"}]}, "schema"),
    ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "schema"),
    ({"type": "object", "properties": {"a": False}, "required": ["a"]}, "schema"),
    ({"type": "array", "items": False, "minItems": 1}, "schema"), ({"enum": []}, "schema"),
    ({"properties": {"ключ\n": {"type": "x"}}}, "schema.properties.?????????.type"),
])
def test_what_is_no_schema_or_allows_nothing_is_named(tool, schema, path):
    error = tool.ask(schema)["error"]
    assert error["path"] == path and not error["unsupported"], error


def test_large_schemas_are_compiled_or_refused_in_time(tool):
    """No case may take long; whether it is refused is its own business."""
    wide = {"type": "object", "properties": {f"p{i}": {"type": "integer", "minimum": i} for i in range(2000)}}
    optional = {"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(300)}}
    chain = {"$defs": {f"n{i}": {"type": "object", "properties": {"next": {"$ref": f"#/$defs/n{i + 1}"}}} for i in range(5000)}}
    chain["$defs"]["n5000"] = {"type": "null"}
    chain["$ref"] = "#/$defs/n0"
    tuple_of_none = {"type": "array", "prefixItems": [{}], "items": False, "minItems": 2}
    assert tool.ask(tuple_of_none)["error"]["path"] == "schema"
    choices = {"allOf": [{"anyOf": [{"minimum": i}, {"maximum": -i}]} for i in range(40)]}
    nested = {"$defs": {f"n{i}": {"anyOf": [{"$ref": f"#/$defs/n{i + 1}"}, {"const": i}]} for i in range(5000)}}
    nested["$defs"]["n5000"] = True
    nested["$ref"] = "#/$defs/n0"
    twice = {"$defs": {f"n{i}": {"oneOf": [{"properties": {"k": {"$ref": f"#/$defs/n{i + 1}"}}, "required": ["k"]},
                                         {"properties": {"k": {"$ref": f"#/$defs/n{i + 1}"}}, "required": ["k"]}]}
                       for i in range(30)}, "$ref": "#/$defs/n0"}
    twice["$defs"]["n30"] = {"type": "null"}
    patterns = {"type": "object", "properties": {f"p{i}": {"pattern": f"(a|b)*a(a|b){{{i % 12}}}"} for i in range(500)}}
    long_list = {"enum": [f"value number {i}" for i in range(20_000)]}
    for schema in (wide, optional, chain, choices, nested, twice, patterns, long_list):
        answer = tool.ask(schema, walks=1)
        assert "error" not in answer or answer["error"]["path"].startswith("schema"), answer
    assert "error" not in tool.ask(wide) and "error" not in tool.ask(optional)
    assert tool.ask(long_list, ['"value number 19999"', '"value number 20000"'])["accepts"] == [True, False]
    names = ",".join(f'"p{i}":null' for i in range(0, 300, 7))
    assert tool.ask(optional, ["{" + names + "}"])["accepts"] == [True]


def test_equal_alternatives_do_not_multiply(tool):
    schema = {"$defs": {"n": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/n"}},
                                       {"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": 9}]}},
              "$ref": "#/$defs/n"}
    assert tool.ask(schema, ["[" * 60 + "]" * 60, json.dumps([[[], [[]]]])])["accepts"][1]


@pytest.mark.parametrize("schema", [
    {"type": "array", "minItems": 4, "maxItems": 3},
    {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "boolean"}, "minItems": 4, "maxItems": 3},
    {"type": "integer", "minimum": 4, "maximum": 3},
    {"type": "string", "minLength": 4, "maxLength": 3},
    {"type": "object", "properties": {"a": False}, "required": ["a"]},
    False,
])
def test_what_nothing_can_satisfy_is_refused(tool, schema):
    assert "allows nothing" in tool.ask(schema)["error"]["fault"]
