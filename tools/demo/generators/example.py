"""What a generator returns, and how it becomes text: the chat template in Python and the training segments.

`render` gives the same bytes as models/demo/chat_template.jinja for the conversations that the generators make
(tests/python/demo_scoring checks it with jinja2).
"""
import json
from dataclasses import dataclass, field


@dataclass
class Example:
    category: str
    messages: list                 # up to and including the last user or tool message
    reply: str = ""                # what the assistant should say
    calls: list = field(default_factory=list)   # [{"name", "arguments"}] the assistant should make
    reasoning: str = ""            # what it should think, when thinking is on
    thinking: bool = False
    tools: list = None
    check: dict = field(default_factory=dict)   # how score.py judges the reply


def dumps(value):
    return json.dumps(value, ensure_ascii=False)


def call_text(calls):
    parts = []
    for c in calls:
        args = "".join(f"<parameter={k}>\n{v if isinstance(v, str) else dumps(v)}\n</parameter>\n"
                       for k, v in c["arguments"].items())
        parts.append(f"<tool_call>\n<function={c['name']}>\n{args}</function>\n</tool_call>")
    return "\n".join(parts)


def answer_text(reply, calls):
    return reply + ("\n\n" if reply and calls else "") + call_text(calls)


PREAMBLE = "# Tools\n\nYou have access to the following functions:\n\n<tools>"
INSTRUCTIONS = (
    "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n<tool_call>\n"
    "<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n"
    "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n"
    "- Function calls MUST follow the specified format: an inner <function=...></function> block must be nested within "
    "<tool_call></tool_call> XML tags\n- Required parameters MUST be specified\n"
    "- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT "
    "after\n- If there is no function call available, answer the question like normal with your current knowledge and do "
    "not tell the user about function calls\n</IMPORTANT>")


def segments(example):
    """[(text, trained)]: the prompt and reply, cut where the trained part begins and ends.

    Earlier assistant turns are trained too; they stand as the template renders history."""
    out, messages = [], list(example.messages)
    system = messages.pop(0)["content"].strip() if messages[0]["role"] == "system" else None
    if example.tools:
        body = PREAMBLE + "".join("\n" + dumps(t) for t in example.tools) + INSTRUCTIONS
        out.append((f"<|im_start|>system\n{body}" + (f"\n\n{system}" if system else "") + "<|im_end|>\n", False))
    elif system is not None:
        out.append((f"<|im_start|>system\n{system}<|im_end|>\n", False))
    last_query = max(i for i, m in enumerate(messages) if m["role"] == "user")
    for i, m in enumerate(messages):
        if m["role"] == "user":
            out.append((f"<|im_start|>user\n{m['content'].strip()}<|im_end|>\n", False))
        elif m["role"] == "tool":
            before = "" if messages[i - 1]["role"] == "tool" else "<|im_start|>user"
            after = "" if i + 1 < len(messages) and messages[i + 1]["role"] == "tool" else "<|im_end|>\n"
            out.append((f"{before}\n<tool_response>\n{m['content'].strip()}\n</tool_response>{after}", False))
        else:
            calls = [c["function"] for c in m.get("tool_calls") or []]
            text = answer_text((m.get("content") or "").strip(), calls)
            if i > last_query:
                think = (m.get("reasoning_content") or "").strip()
                out.append((f"<|im_start|>assistant\n<think>\n{think}\n</think>\n\n", False))
            else:
                out.append(("<|im_start|>assistant\n", False))
            out.append((text + "<|im_end|>", True))
            out.append(("\n", False))
    answer = answer_text(example.reply, example.calls) + "<|im_end|>"
    if example.thinking:
        out.append(("<|im_start|>assistant\n<think>\n", False))
        out.append((f"{example.reasoning}\n</think>\n\n{answer}", True))
    else:
        out.append(("<|im_start|>assistant\n<think>\n\n</think>\n\n", False))
        out.append((answer, True))
    return out


def prompt_text(example):
    return "".join(t for t, _ in segments(example)[:-1])


def user(text):
    return {"role": "user", "content": text}


def assistant(text, calls=(), reasoning=None):
    m = {"role": "assistant", "content": text}
    if reasoning is not None:
        m["reasoning_content"] = reasoning
    if calls:
        m["tool_calls"] = [{"type": "function", "function": c} for c in calls]
    return m


def tool(text):
    return {"role": "tool", "content": text}


def system(text):
    return {"role": "system", "content": text}
