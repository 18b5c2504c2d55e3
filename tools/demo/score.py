"""Scores a served demo model through the OpenAI chat API on held-out prompts, greedy. Standard library only.

Owns: the requests, the judging, the report. The prompts come from corpus.held_out, the generators that made the
training text: no prompt here was trained on (split by wording and by entity, see draw.py).

    python tools/demo/score.py --url http://127.0.0.1:8080 --count 100 --json scores.json
"""
import argparse
import json
import re
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from generators import corpus

# Least share of right replies, in percent; None: reported only.
BARS = {"sum": 95, "fact_en": 90, "fact_es": 90, "tool_call": 95, "tool_result": 90, "scope": 90, "thinking": 90}


def api_message(message, numbers):
    """A message of the generators in the API's form: arguments as a JSON string, calls and results linked by id."""
    out = dict(message)
    if message.get("tool_calls"):
        out["tool_calls"] = []
        for call in message["tool_calls"]:
            numbers["made"] += 1
            function = call["function"]
            out["tool_calls"].append({"id": f"call_{numbers['made']}", "type": "function",
                                      "function": {"name": function["name"], "arguments": json.dumps(function["arguments"], ensure_ascii=False)}})
        numbers["answered"] = numbers["made"] - len(message["tool_calls"])
    if message["role"] == "tool":
        numbers["answered"] += 1
        out["tool_call_id"] = f"call_{numbers['answered']}"
    return out


def request_body(example, model, max_tokens):
    numbers = {"made": 0, "answered": 0}
    body = {"model": model, "messages": [api_message(m, numbers) for m in example.messages], "temperature": 0, "max_tokens": max_tokens,
            "presence_penalty": 0, "frequency_penalty": 0, "chat_template_kwargs": {"enable_thinking": example.thinking}}
    if example.tools:
        body["tools"] = example.tools
    return body


def post(url, body, timeout):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url + "/v1/chat/completions", data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"HTTP {error.code}: {error.read().decode(errors='replace')[:300]}") from None


def calls_of(message):
    """[(name, arguments or None)] of a reply."""
    out = []
    for call in message.get("tool_calls") or []:
        try:
            arguments = json.loads(call["function"]["arguments"])
        except ValueError:
            arguments = None
        out.append((call["function"]["name"], arguments))
    return out


def well_formed(example, message):
    """Every call names an offered tool and carries an object with its required parameters and no unknown one."""
    schemas = {t["function"]["name"]: t["function"]["parameters"] for t in example.tools or []}
    calls = calls_of(message)
    return bool(calls) and all(
        name in schemas and isinstance(arguments, dict) and set(schemas[name].get("required", [])) <= set(arguments) <= set(schemas[name]["properties"])
        for name, arguments in calls)


def says(content, wanted):
    return re.search(r"(?<!\w)" + re.escape(wanted.lower()) + r"(?!\w)", content.lower()) is not None


def right(example, message):
    """Whether the reply does what was asked."""
    check, content = example.check, (message.get("content") or "").strip()
    if example.thinking and not (message.get("reasoning_content") or "").strip():
        return False
    if "calls" in check:
        return calls_of(message) == [(c["name"], c["arguments"]) for c in check["calls"]]
    if message.get("tool_calls"):
        return False
    if "ends_with_number" in check:
        numbers = re.findall(r"-?\d+", content)
        return bool(numbers) and numbers[-1] == str(check["ends_with_number"])
    if "equals" in check:
        return content == check["equals"]
    return all(says(content, w) for w in check["contains"])


def ask(example, a):
    body = request_body(example, a.model, a.max_tokens)
    try:
        choice = post(a.url, body, a.timeout)["choices"][0]
    except Exception as error:   # a failed request is a failed answer, told in the report
        return {"right": False, "well_formed": False, "thought": False, "error": str(error)}
    message = choice["message"]
    return {"right": right(example, message), "well_formed": well_formed(example, message), "ended": choice["finish_reason"] != "length",
            "thought": bool((message.get("reasoning_content") or "").strip()) and bool(message.get("content") or message.get("tool_calls")),
            "content": message.get("content"), "reasoning": message.get("reasoning_content"), "calls": calls_of(message)}


def score(category, a):
    examples = list(corpus.held_out(category, a.count, a.seed))
    with ThreadPoolExecutor(a.parallel) as pool:
        results = list(pool.map(lambda e: ask(e, a), examples))
    share = lambda key: round(100 * sum(bool(r.get(key)) for r in results) / len(results), 1)
    row = {"category": category, "n": len(results), "right": share("right"), "ended": share("ended"), "bar": BARS.get(category)}
    if category == "tool_call":
        row["well_formed"] = share("well_formed")
    if category == "thinking":
        row["thought_first"] = share("thought")
    row["failures"] = [{"prompt": e.messages[-1]["content"], "wanted": e.check, "got": {k: r.get(k) for k in ("content", "calls", "error") if r.get(k)}}
                       for e, r in zip(examples, results) if not r["right"]]
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--url", default="http://127.0.0.1:8080")
    p.add_argument("--model", default="demo")
    p.add_argument("--count", type=int, default=100, help="prompts of each category")
    p.add_argument("--seed", type=int, default=corpus.SEED, help="another one gives other held-out prompts, to choose between checkpoints without the scored ones")
    p.add_argument("--categories", default=",".join(corpus.CATEGORIES))
    p.add_argument("--parallel", type=int, default=4)
    p.add_argument("--max-tokens", type=int, default=1200)
    p.add_argument("--timeout", type=float, default=300)
    p.add_argument("--show", type=int, default=5, help="failures shown of each category")
    p.add_argument("--json", help="file for the full report")
    p.add_argument("--enforce", action="store_true", help="exit 1 if a category is under its bar")
    a = p.parse_args()
    rows, low = [], []
    for category in a.categories.split(","):
        began = time.time()
        row = score(category, a)
        rows.append(row)
        extra = "".join(f"  {k} {row[k]} %" for k in ("well_formed", "thought_first") if k in row)
        print(f"{category:17} n {row['n']:4}  right {row['right']:5} %  bar {row['bar'] or '-'}  ended {row['ended']} %{extra}  ({time.time() - began:.0f} s)", flush=True)
        for f in row["failures"][:a.show]:
            print(f"    {f['prompt'][:100]!r}  wanted {json.dumps(f['wanted'], ensure_ascii=False)[:120]}  got {json.dumps(f['got'], ensure_ascii=False)[:160]}")
        if row["bar"] and max(row["right"], row.get("well_formed", 0)) < row["bar"]:
            low.append(category)
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1, ensure_ascii=False)
    print("under the bar: " + (", ".join(low) or "none"))
    return 1 if low and a.enforce else 0


if __name__ == "__main__":
    raise SystemExit(main())
