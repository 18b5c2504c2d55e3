#!/usr/bin/env python3
"""Writes fuzz/corpus/<target>/: small inputs from which the fuzzers start. Run it again after changing it;
files named finding-* are inputs that once failed and are kept by hand."""

import json
import random
import struct
from pathlib import Path

FUZZ = Path(__file__).resolve().parent
ROOT = FUZZ.parent


def compact(value) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def tensor(dtype: str, shape: list, begin: int, end: int) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_file() -> list[bytes]:
    headers = [
        ({}, 0),
        ({"a": tensor("F32", [2, 3], 0, 24)}, 24),
        ({"__metadata__": {"format": "mlx"}, "w": tensor("U32", [4, 8], 0, 128), "s": tensor("BF16", [4], 128, 136)}, 136),
        ({"empty": tensor("U8", [0, 7], 0, 0), "x": tensor("I64", [], 0, 8), "y": tensor("F8_E4M3", [3], 8, 11)}, 11),
        ({"late": tensor("F16", [1], 2, 4), "early": tensor("BOOL", [2], 0, 2)}, 4),
        ({"hole": tensor("U8", [1], 1, 2)}, 2),
        ({"huge": tensor("F64", [2**62, 2**62], 0, 8)}, 8),
        ({"wrong": tensor("U4", [1], 0, 1)}, 1),
    ]
    seeds = [b"\x01" + struct.pack("<H", n_bytes) + compact(header) for header, n_bytes in headers]
    seeds.append(b"\x01\x01\x00" + b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8"}}')
    header = compact(headers[1][0])
    seeds.append(b"\x00" + struct.pack("<Q", len(header)) + header + bytes(24))
    seeds.append(b"\x00" + struct.pack("<Q", 2**63) + header)
    return seeds


def safetensors_index() -> list[bytes]:
    maps = [
        {"a": "1.safetensors", "b": "2.safetensors"},
        {"a": "1.safetensors"},
        {"a": "2.safetensors"},
        {"c": "../outside.safetensors"},
        {"a": "absent.safetensors"},
        {"a": 7},
        {},
    ]
    seeds = [compact({"metadata": {"total_size": 7}, "weight_map": weight_map}) for weight_map in maps]
    return [*seeds, b'{"weight_map":[]}', b"[]", b'{"weight_map":{"a":"1.safetensors","a":"2.safetensors"}}']


def model_config() -> list[bytes]:
    model = json.loads((ROOT / "models/demo/config.json").read_text())
    generation = json.loads((ROOT / "models/demo/generation_config.json").read_text())
    quantization = model.get("quantization", {"group_size": 64, "bits": 4})
    few = dict(list(quantization.items())[:5])
    model = {**model, "quantization": few}
    model.pop("quantization_config", None)
    real = json.loads((ROOT / "tests/data/checkpoint/qwen36_config_mlx.json").read_text())
    real["quantization"] = dict(list(real.get("quantization", {}).items())[:4])
    real.pop("quantization_config", None)
    text = real.get("text_config", real)
    text.pop("layer_types", None)
    seeds = [compact(model), compact(real), compact(text)]
    settings = [generation, {"eos_token_id": [1, 4095]}, {"eos_token_id": 4096}, {"top_k": 1e9, "do_sample": False},
                {"temperature": 0, "top_p": 0.95, "min_p": 1, "repetition_penalty": 1.5, "presence_penalty": -2}, {}]
    seeds += [compact(model) + b"\xff" + compact(setting) for setting in settings]
    return [*seeds, b"{}", b"[]", b'{"text_config":{}}']


def tokenizer_file() -> list[bytes]:
    def frame(added: str, vocabulary: str, merges: str) -> bytes:
        return b"\x01" + b"\xff".join(part.encode() for part in (added, vocabulary, merges))

    def added(token_id: int, content: str, **flags) -> str:
        return compact({"id": token_id, "content": content, "special": True, **flags}).decode()

    entries = '"ab":256,"abc":257,"aa":258,"aaaa":259,"bc":260,"Ġa":261'
    merges = '"a b","ab c","a a",["aa","aa"],"b c","Ġ a"'
    return [
        frame("", "", ""),
        frame("", entries, merges),
        frame(added(262, "<|im_end|>") + "," + added(263, "<|im_", normalized=False), entries, merges),
        frame(added(256, "ab"), entries, '"a b"'),
        frame(added(300, "é", normalized=True), entries, merges + ',"b c","a b"'),
        frame(added(16777215, "<far>"), '"ab":16777214', '"a b"'),
        frame(added(5, "<taken>"), "", ""),
        frame("", '"ab":256,"ab":257', ""),
        frame("", entries, '["a","b","c"],"a","x y"'),
        b"\x00" + compact({"model": {"type": "WordPiece"}, "normalizer": {"type": "NFC"}}),
        b"\x00" + compact({"normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "x"}, "behavior": "Isolated"}, {"type": "ByteLevel"}]},
            "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {}, "merges": []}}),
        b"\x00{}",
    ]


def other_requests() -> list[bytes]:
    """A byte that chooses the API (fuzz/other_requests.cpp), then a body."""
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    user = {"role": "user", "content": "Hello"}
    bodies = [
        (0, {"max_tokens": 9, "messages": [user], "system": "Be brief.", "stream": True}),
        (0, {"system": [{"type": "text", "text": "x-anthropic-billing-header: a"}, {"type": "text", "text": "b"}],
             "tools": [{"name": "f", "input_schema": schema}, {"type": "web_search_20250305", "name": "w"}],
             "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}, "stop_sequences": ["x"],
             "thinking": {"type": "enabled", "budget_tokens": 5}, "messages": [
                 user, {"role": "assistant", "content": [
                     {"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "a"},
                     {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}]},
                 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
                     {"type": "text", "text": "r"}, {"type": "image", "source": {}}]}, {"type": "text", "text": "b"}]},
                 {"role": "system", "content": "c"}]}),
        (1, {"input": "Hello", "instructions": "Be brief.", "max_output_tokens": 3}),
        (1, {"input": [{"role": "user", "content": [{"type": "input_text", "text": "a"}]},
                       {"type": "reasoning", "summary": [{"type": "summary_text", "text": "b"}]},
                       {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
                       {"type": "function_call_output", "call_id": "c", "output": "d"}, {"type": "web_search_call"}],
             "tools": [{"type": "function", "name": "f", "parameters": schema}, {"type": "local_shell"}],
             "reasoning": {"effort": "low", "summary": "auto"}, "store": False, "previous_response_id": None}),
        (2, {"messages": [user, {"role": "assistant", "thinking": "t", "tool_calls": [
            {"function": {"name": "f", "arguments": {"x": 1}}}]}, {"role": "tool", "content": "r", "images": ["i"]}],
             "think": "low", "options": {"num_predict": -2, "stop": ["a"], "seed": 1}, "format": ""}),
        (3, {"prompt": "Hello", "system": "s", "think": False, "raw": False, "context": [], "options": {}}),
        (4, {"prompt": ["a", [1, 2]], "n": 2, "best_of": 2, "logprobs": 3, "stop": "x"}),
        (4, {"prompt": [1, 2, 3], "echo": True, "suffix": "", "logprobs": None, "max_tokens": 0}),
    ]
    return [bytes([api]) + json.dumps(body).encode() for api, body in bodies]


def chat_request() -> list[bytes]:
    user = {"role": "user", "content": "Hello"}
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {
        "type": "object", "properties": {"x": {"type": "integer"}, "y": {"$ref": "#/$defs/z"}},
        "$defs": {"z": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["x"]}}}
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}
    bodies = [
        {"messages": [user]},
        {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, user], "stream": True,
         "stream_options": {"include_usage": True}, "max_tokens": 16},
        {"messages": [user], "temperature": 0.5, "top_p": 0.9, "min_p": 0.05, "top_k": 20, "seed": -1,
         "presence_penalty": 1.5, "frequency_penalty": -2, "repetition_penalty": 1.1, "logit_bias": {"5": -100}},
        {"messages": [user], "stop": ["a", "\n\n"], "logprobs": True, "top_logprobs": 20, "n": 1},
        {"messages": [user], "stop": "x", "max_completion_tokens": -1, "seed": 18446744073709551615},
        {"messages": [user], "tools": [tool], "tool_choice": "auto", "parallel_tool_calls": True},
        {"messages": [user, {"role": "assistant", "content": None, "tool_calls": [call]},
                      {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "1"}]}],
         "tools": [tool], "tool_choice": "none"},
        {"messages": [user, {"role": "assistant", "content": "<think>\na\n</think>\n\nb", "tool_calls": [
            {"function": {"name": "f", "arguments": {"x": [1, {"y": None}]}}}]}, user]},
        {"messages": [{"role": "assistant", "reasoning_content": "r", "content": [
            {"type": "thinking", "thinking": "t"}, {"type": "refusal", "refusal": "no"}, "plain"]}]},
        {"messages": [user], "chat_template_kwargs": {"enable_thinking": False, "preserve_thinking": True}},
        {"messages": [user], "thinking": {"type": "disabled"}, "reasoning_effort": "none"},
        {"messages": [user], "reasoning": {"effort": "high"}, "response_format": {"type": "text"}, "functions": []},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]},
        {"messages": [{"role": "developer", "content": "<|im_end|>"}, {"role": "function", "content": ""}]},
        {"messages": [user], "response_format": {"type": "json_object"}},
        {"messages": [user], "tool_choice": {"type": "function"}},
        {"messages": []},
        {"messages": [{"role": "robot"}]},
    ]
    seeds = [compact(body) for body in bodies]
    return [*seeds, b'{"messages":[{"role":"user","content":"\\ud83d \\ud83d\\ude00"}],"temperature":1e999,"top_k":2.0}',
            b'{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{broken"}}]}]}']


def json_schema() -> list[bytes]:
    schemas = [
        True, {"type": "string", "minLength": 1, "maxLength": 5}, {"type": ["integer", "null"], "minimum": -5, "maximum": 70},
        {"type": "number", "exclusiveMinimum": -0.5, "maximum": 1e2, "multipleOf": 0.01}, {"enum": ["a", "ab", 1, 1.5, None, {"k": []}]},
        {"type": "object", "properties": {"a": {"const": 1}, "b": {"type": "boolean"}}, "required": ["b"], "additionalProperties": False},
        {"type": "object", "patternProperties": {"^x": {"type": "null"}}, "additionalProperties": {"type": "string"},
         "propertyNames": {"maxLength": 3}, "minProperties": 1, "maxProperties": 2},
        {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
        {"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}}},
        {"oneOf": [{"properties": {"k": {"const": "a"}}, "required": ["k"]}, {"properties": {"k": {"const": "b"}}, "required": ["k"]}]},
        {"allOf": [{"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"maximum": 2}}, "required": ["a"]}]},
        {"pattern": "^(a|[^b-d\\\\]{2,3}|\\d+?)$"}, {"pattern": "x\\u00e9*.|(?:y)$", "maxLength": 4}, {"not": {}},
        *({"type": "string", "format": name} for name in ("date-time", "uuid", "email", "ipv6", "uri", "duration")),
    ]
    generator = random.Random("json_schema")
    return [compact(schema) + b"\xff" + bytes(generator.randrange(256) for _ in range(40)) for schema in schemas]


def reply_parser() -> list[bytes]:
    def call(name: str, **values) -> str:
        parts = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
        return f"<tool_call>\n<function={name}>\n{parts}</function>\n</tool_call>"

    replies = [
        "Thinking.\n</think>\n\nThe answer.",
        "</think>\n\nLet me see.\n\n" + call("f", s="text", i="3.0", n="null", b="True") + "\n" + call("one", only="x"),
        "a <tool_call> b\n" + call("f", o='{"a": [1, 2]}', l="[]", any="1e5", sn="7", s="<b>&</b>"),
        "<think>\nagain\n</think>\nHello\n<think>no</think> end",
        "</think><function=f><parameter=s>no closing",
        "</think><tool_call><function=one><parameter>\nvalue\n</parameter></function></tool_call>\n\nMore.",
        "</think><tool_call>\n<function=f>\n<parameter=s>\n</parameter>\nnot yet\n</parameter>\n<parameter=s>\ntwice\n</parameter>"
        "\n</function>\n</tool_call>",
        "</think>cut <tool_ca",
        "</think><tool_call>\n<function=\"quoted\">\n<parameter='k'>é\n\n</parameter></function>",
        "</think>\r\n x </tool_call> y </function> </parameter> <tool_call> z",
        call("f", s="a") + call("", s="b") + "<tool_call><function=g></tool_call>",
        "</think><tool_<tool_call>call>",
        "x" * 70 + "<function=" + "n" * 260 + ">",
    ]
    seeds = []
    for number, reply in enumerate(replies):
        sizes = bytes([3, 0, 17][: number % 4])
        seeds.append(bytes([number % 2, len(sizes)]) + sizes + reply.encode())
        if number % 3 == 0:
            seeds.append(bytes([2 | 4 * (number % 2), 1, 5]) + reply.encode())
    return seeds


def decisions(target: str, count: int, longest: int) -> list[bytes]:
    """Inputs of targets that read bytes as decisions: any bytes will do."""
    generator = random.Random(target)
    seeds = []
    for _ in range(count):
        small = generator.random() < 0.5
        seeds.append(bytes(generator.randrange(8 if small else 256) for _ in range(generator.randrange(4, longest))))
    return seeds


def python_json() -> list[bytes]:
    texts = ['{"a": [1, -0, 2.50, 1e5, true, null], "b": {"c": "\\u00e9\\n\\/"}}', "[]", "{}", '""', "-0.0", "1e-7", "1E+400",
             "123456789012345678901234567890", '"\\ud83d\\ude00 \\ud83d x \\udc00"', '{"k":1,"k":2,"j":3,"k":4}', "[NaN]",
             "-Infinity", "[1,]", "01", "1.", '{"a"}', '"\x7f\x1f"', " [ [ ] , { } ] ", "5e-324", "1.7976931348623157e308",
             '{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"3":1,"10":0}', "0.1", "1e16", "0.0001", "0.00001"]
    seeds = [bytes([0]) + text.encode() for text in texts]
    return [*seeds, b"\x01[NaN,Infinity,-Infinity]", b"\x00" + b"[" * 40 + b"]" * 40, b"\x00\"\xff\xc3\""]


def main():
    corpora = {
        "chat_request": chat_request(),
        "chat_template": decisions("chat_template", 24, 200),
        "json_schema": json_schema(),
        "model_config": model_config(),
        "other_requests": other_requests(),
        "python_json": python_json(),
        "reply_parser": reply_parser(),
        "safetensors_file": safetensors_file(),
        "safetensors_index": safetensors_index(),
        "streamed_text": decisions("streamed_text", 24, 120),
        "tokenizer_file": tokenizer_file(),
    }
    for target, seeds in corpora.items():
        folder = FUZZ / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("seed-*"):
            old.unlink()
        for number, seed in enumerate(seeds):
            (folder / f"seed-{number:02}").write_bytes(seed)
        print(f"{target}: {len(seeds)} seeds, {sum(map(len, seeds))} bytes")


if __name__ == "__main__":
    main()
