"""score.py judges by what was asked: right replies pass, each kind of wrong one fails."""

import json

import pytest
import score
from generators import corpus
from generators.example import Example, assistant, tool, user


def message(content=None, calls=(), reasoning=None):
    return {"content": content, "reasoning_content": reasoning,
            "tool_calls": [{"function": {"name": n, "arguments": json.dumps(a)}} for n, a in calls]}


@pytest.mark.parametrize("category", corpus.CATEGORIES)
def test_the_expected_reply_passes_and_others_fail(category):
    for example in corpus.held_out(category, 20):
        calls = [(c["name"], c["arguments"]) for c in example.calls]
        reasoning = example.reasoning if example.thinking else None
        assert score.right(example, message(example.reply, calls, reasoning))
        assert not score.right(example, message("Blue, or 123456789.", [], reasoning))
        assert not score.right(example, message(None, [("made_up", {})], reasoning))
        if example.thinking:
            assert not score.right(example, message(example.reply, calls, None))


def test_a_number_must_be_the_last_and_whole():
    example = Example("sum", [user("12 + 30")], check={"ends_with_number": 42})
    assert score.right(example, message("12 + 30 = 42."))
    for wrong in ("12 + 30 = 421.", "42 is 12 + 30", "-42", "", "12 + 30 = 4 2."):
        assert not score.right(example, message(wrong))


def test_a_fact_must_stand_as_a_word():
    example = Example("fact_en", [user("Capital of Peru?")], check={"contains": ["Lima"]})
    assert score.right(example, message("The capital is LIMA."))
    assert not score.right(example, message("The capital is Limassol."))


def test_calls_must_match_in_name_and_arguments():
    example = next(e for e in corpus.held_out("tool_call", 50) if e.calls[0]["arguments"] and len(e.calls) == 1)
    name, arguments = example.calls[0]["name"], example.calls[0]["arguments"]
    think = "x"
    assert score.right(example, message(None, [(name, arguments)], think))
    assert not score.right(example, message(None, [(name + "x", arguments)], think))
    assert not score.right(example, message(None, [(name, {**arguments, "more": 1})], think))
    assert not score.right(example, message(None, [(name, arguments)] * 2, think))
    assert score.well_formed(example, message(None, [(name, arguments)]))
    assert not score.well_formed(example, message(None, [(name, {**arguments, "more": 1})]))
    assert not score.well_formed(example, message("no call"))


def test_messages_take_the_form_of_the_api():
    calls = [{"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"a": 2}}]
    example = Example("tool_result", [user("go"), assistant("", calls), tool("1"), tool("2")])
    sent = score.request_body(example, "demo", 10)["messages"]
    ids = [c["id"] for c in sent[1]["tool_calls"]]
    assert [json.loads(c["function"]["arguments"]) for c in sent[1]["tool_calls"]] == [{"a": 1}, {"a": 2}]
    assert [m["tool_call_id"] for m in sent[2:]] == ids and len(set(ids)) == 2
