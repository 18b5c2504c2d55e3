"""The demo model's text: deterministic, right, and split so that nothing scored was trained on."""

import re

import pytest
from generators import chat, corpus, facts, sums, tool_calls
from generators.draw import Draw, is_held
from generators.example import Example, assistant, prompt_text, segments, tool, user
from generators.manner import bare

TRAINED = [Draw("split", "train", i) for i in range(6000)]


def test_an_example_is_a_function_of_seed_and_index():
    assert [corpus.document(i) for i in range(50)] == [corpus.document(i) for i in range(50)]
    assert corpus.document(3) != corpus.document(3, seed=1)


@pytest.mark.parametrize("op", ["+", "-"])
def test_column_work_ends_in_the_right_number(op):
    for i in range(2000):
        example = sums.make(Draw(1, "train", i), "en", i % 2 == 0, op)
        left, right = map(int, re.search(r"(\d+) [+-] (\d+) = -?\d+\.$", example.reply).groups())
        want = left + right if op == "+" else left - right
        assert example.reply.endswith(f" = {want}.")
        assert example.check == {"ends_with_number": want}
        # The digits that the columns give, read from the right, are the number.
        work = (example.reasoning or example.reply).split("right: ")
        if len(work) == 2:
            columns = work[1].split(".")[0].split(", ")
            digits = [c.split("=")[-1].strip() for c in columns]
            assert int(digits[-1] + "".join(d[-1] for d in reversed(digits[:-1]))) == abs(want)


def pair_of(example):
    a, b = re.search(r"(\d+) [+-] (\d+) = -?\d+\.$", example.reply).groups()
    return sorted((int(a), int(b)))


def test_held_out_pairs_are_never_added_in_training():
    for d in TRAINED:
        a, b = pair_of(sums.make(d))
        assert a + b < 20 or not is_held(f"{a}+{b}")
    for category in ("sum", "difference"):
        for example in corpus.held_out(category, 200):
            assert is_held("{}+{}".format(*pair_of(example)))


def test_held_out_wordings_of_facts_never_appear_in_training():
    held = {bare(w.format(**values)) for lang in ("en", "es") for relation, rows in facts.ROWS[lang].items()
            for values, _ in rows for w in facts.RELATIONS[relation][lang][1]}
    trained = set()
    for d in TRAINED:
        lang = d.language()
        relation = d.choice(list(facts.ROWS[lang]))
        values, _ = d.choice(facts.ROWS[lang][relation])
        trained.add(bare(facts.wording(d, relation, lang, facts.RELATIONS[relation][lang][:2], values)))
    assert len(trained) > 2000 and not trained & held


def test_held_out_tools_are_never_offered_in_training():
    real_held = {name for name, *_ in tool_calls.REAL if is_held(name)}
    assert 3 <= len(real_held) <= 10
    for d in TRAINED[:2000]:
        for t in tool_calls.tool_list(d):
            assert t.name not in real_held


def test_expected_calls_fit_their_schemas():
    for split in ("train", "held"):
        for i in range(800):
            example = tool_calls.make(Draw(5, split, i), want="call")
            schemas = {t["function"]["name"]: t["function"]["parameters"] for t in example.tools}
            for call in example.calls:
                schema = schemas[call["name"]]
                assert set(schema.get("required", [])) <= set(call["arguments"]) <= set(schema["properties"])
                kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}
                for name, value in call["arguments"].items():
                    assert isinstance(value, kinds[schema["properties"][name]["type"]])


def test_a_conversation_renders_as_the_template_does():
    calls = [{"name": "f", "arguments": {"a": "x y", "n": 2, "ok": True, "l": ["é"]}}]
    example = Example("tool_result", [user(" hello "), assistant("", calls), tool("1"), assistant("One."), user("again"),
                                      assistant("", calls, "hm"), tool('{"a":1}')], "Done.", thinking=False)
    assert prompt_text(example) == (
        "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n<tool_call>\n<function=f>\n<parameter=a>\nx y\n</parameter>\n"
        "<parameter=n>\n2\n</parameter>\n<parameter=ok>\ntrue\n</parameter>\n<parameter=l>\n[\"é\"]\n</parameter>\n</function>\n"
        "</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n1\n</tool_response><|im_end|>\n<|im_start|>assistant\nOne.<|im_end|>\n"
        "<|im_start|>user\nagain<|im_end|>\n<|im_start|>assistant\n<think>\nhm\n</think>\n\n<tool_call>\n<function=f>\n<parameter=a>\n"
        "x y\n</parameter>\n<parameter=n>\n2\n</parameter>\n<parameter=ok>\ntrue\n</parameter>\n<parameter=l>\n[\"é\"]\n</parameter>\n"
        "</function>\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n{\"a\":1}\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert segments(example)[-1] == ("Done.<|im_end|>", True)


def test_counting_and_lists_are_right():
    for i in range(300):
        example = chat.count(Draw(2, "train", i))
        numbers = re.findall(r"\d+", example.reply)
        if numbers:
            values = list(map(int, numbers))
            step = values[1] - values[0] if len(values) > 1 else 1
            assert values == list(range(values[0], values[-1] + step, step))
