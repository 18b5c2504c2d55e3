"""Answers in a demanded form, by the demo model: whatever it would like to write, the form is kept."""

import json
import typing
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import jsonschema
import openai
import pydantic
import pytest
from random_schemas import Maker

QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
ADDRESS = {"type": "object", "properties": {
    "city": {"type": "string", "maxLength": 15}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"},
    "floor": {"type": "integer", "minimum": -2, "maximum": 90}, "kind": {"enum": ["home", "work"]},
    "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 2}},
    "required": ["city", "zip", "floor", "kind"], "additionalProperties": False}
TOOLS = [{"type": "function", "function": {"name": "find_place", "parameters": {
    "type": "object", "properties": {"address": ADDRESS, "note": {"type": "string", "maxLength": 30},
                                     "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 5}},
    "required": ["address", "note", "limit"]}}},
    {"type": "function", "function": {"name": "stop_all"}}]


def schema_format(schema):
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def check(schema, text: str):
    """Exact decimals: a number just under its bound must not be rounded up to it."""
    exact = json.loads(json.dumps(schema), parse_float=Decimal)
    jsonschema.Draft202012Validator(exact).validate(json.loads(text, parse_float=Decimal))


def ask(client, **fields):
    fields = {"model": "demo", "messages": QUESTION, "max_tokens": 2000, **fields}
    return client.chat.completions.create(**fields).choices[0]


def no_thinking():
    return {"extra_body": {"enable_thinking": False}}


def ask_for_random_schema(client, seed: int) -> int:
    schema, _ = Maker(seed, max_text=12).root()
    choice = ask(client, response_format=schema_format(schema), seed=seed, temperature=1.0,
                 extra_body={"enable_thinking": seed % 5 == 0})
    assert choice.finish_reason == "stop", (seed, schema, choice)
    check(schema, choice.message.content)
    return seed


@pytest.mark.parametrize("seeds", [range(50), pytest.param(range(50, 1050), marks=pytest.mark.long)])
def test_random_schemas_give_valid_json(client, seeds):
    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(lambda seed: ask_for_random_schema(client, seed), seeds))) == len(seeds)


@pytest.mark.parametrize("thinking", [True, False])
def test_a_schema_is_kept_greedily_and_sampled(client, thinking):
    for settings in ({"temperature": 0}, {"temperature": 1.5, "seed": 3}):
        choice = ask(client, response_format=schema_format(ADDRESS), extra_body={"enable_thinking": thinking}, **settings)
        assert choice.finish_reason == "stop"
        check(ADDRESS, choice.message.content)
        assert bool(getattr(choice.message, "reasoning_content", None)) == thinking


def test_streamed_is_the_same(client):
    fields = {"response_format": schema_format(ADDRESS), "temperature": 0}
    whole = ask(client, **fields).message.content
    stream = client.chat.completions.create(model="demo", messages=QUESTION, stream=True, max_tokens=2000, **fields)
    parts = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    assert "".join(parts) == whole and sum(map(bool, parts)) > 3


def test_any_json_object(client):
    choice = ask(client, response_format={"type": "json_object"}, max_tokens=60, temperature=0, **no_thinking())
    assert choice.message.content.startswith("{")
    if choice.finish_reason == "stop":
        assert isinstance(json.loads(choice.message.content), dict)
    else:
        assert choice.finish_reason == "length"


def test_a_cut_reply_says_so(client):
    choice = ask(client, response_format=schema_format(ADDRESS), max_tokens=6, **no_thinking())
    assert choice.finish_reason == "length" and choice.message.content.startswith("{")


def test_the_client_parses_its_own_types(client):
    class Answer(pydantic.BaseModel):
        sure: bool
        size: int | None
        tags: list[typing.Literal["big", "old"]] = pydantic.Field(max_length=2)

        model_config = {"extra": "forbid"}

    done = client.chat.completions.parse(model="demo", messages=QUESTION, response_format=Answer, seed=1, **no_thinking())
    assert isinstance(done.choices[0].message.parsed, Answer)


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("temperature", [0, 1.2])
def test_required_calls(client, thinking, temperature):
    choice = ask(client, tools=TOOLS, tool_choice="required", temperature=temperature, seed=5, parallel_tool_calls=False,
                 extra_body={"enable_thinking": thinking})
    assert choice.finish_reason == "tool_calls" and len(choice.message.tool_calls) == 1 and not choice.message.content
    call = choice.message.tool_calls[0].function
    assert call.name in ("find_place", "stop_all")
    if call.name == "find_place":
        check(TOOLS[0]["function"]["parameters"], call.arguments)
    else:
        assert call.arguments == "{}"


@pytest.mark.parametrize("seed", range(6))
def test_a_named_call(client, seed):
    choice = ask(client, tools=TOOLS, tool_choice={"type": "function", "function": {"name": "find_place"}}, seed=seed,
                 temperature=1.0, parallel_tool_calls=False, **no_thinking())
    assert [call.function.name for call in choice.message.tool_calls] == ["find_place"]
    check(TOOLS[0]["function"]["parameters"], choice.message.tool_calls[0].function.arguments)


def test_tools_beside_a_format(client):
    """Either a call or the format."""
    for seed in range(4):
        choice = ask(client, tools=TOOLS, response_format=schema_format(ADDRESS), seed=seed, temperature=1.0,
                     parallel_tool_calls=False, **no_thinking())
        if choice.message.tool_calls:
            assert choice.finish_reason == "tool_calls"
        else:
            check(ADDRESS, choice.message.content)


def test_others_are_not_disturbed(client):
    """At temperature 0 a reply is the same whether constrained replies run beside it or not."""
    free = {"temperature": 0, "max_tokens": 120, **no_thinking()}
    alone = ask(client, **free).message.content
    bound = {"temperature": 0, "response_format": schema_format(ADDRESS), **no_thinking()}
    bound_alone = ask(client, **bound).message.content
    with ThreadPoolExecutor(4) as pool:
        replies = [pool.submit(ask, client, **(free if i % 2 else bound)) for i in range(12)]
    for i, reply in enumerate(replies):
        assert reply.result().message.content == (alone if i % 2 else bound_alone)


def test_faults_name_their_place(client):
    for fields, param in [
        ({"response_format": schema_format({"type": "object", "properties": {"a": {"not": {}}}})},
         "response_format.json_schema.schema.properties.a.not"),
        ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "other"}}}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tools": [{"type": "function", "function": {"name": "f", "strict": True, "parameters": {
            "properties": {"a": {"contains": {}}}}}}], "tool_choice": "required"},
         "tools[0].function.parameters.properties.a.contains"),
    ]:
        with pytest.raises(openai.BadRequestError) as caught:
            ask(client, **fields)
        assert caught.value.param == param
