"""Writes goldens: greedy runs of a checkpoint by mlx-lm, for `orfebre verify --golden` to hold its own logits against.

    make_goldens.py --model DIR --out DIR [--prompts FILE] [--steps N] [--float32]

One JSON file a prompt:

    model, mlx_lm_version, dtype    what ran: the directory's name (or --name), the version, bfloat16 or float32
    chat_template                   whether `prompt` is one user message in the chat template, or bare text
    prompt, prompt_token_ids        the text, and the ids that transformers' tokenizer makes of it
    steps                           for each token of the reply: chosen (the likeliest id) and topk, the 16 likeliest
                                    ids with their natural log-probabilities, descending

FILE is JSON: [{"name": ..., "chat": true or false, "text": ...}, ...]; `name` becomes the file's name. --float32 lifts
the unquantised weights, and with them every activation, to float32; without it mlx-lm computes as its users have it.
An end-of-turn id is recorded and ends the run.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import mlx.core as mx
import mlx_lm
import numpy as np
from mlx.utils import tree_map
from mlx_lm.models.cache import make_prompt_cache

TOP = 16
PREFILL_ROWS = 512
DEFAULT_PROMPTS = Path(__file__).parent / "prompts.json"


def to_float32(model):
    model.update(tree_map(lambda x: x.astype(mx.float32) if x.dtype == mx.bfloat16 else x, model.parameters()))


def prompt_ids(tokenizer, chat, text):
    if not chat:
        return tokenizer.encode(text)
    message = [{"role": "user", "content": text}]
    return list(tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=True, return_dict=False))


def log_probabilities(logits):
    logits = np.array(logits.astype(mx.float32)).astype(np.float64)
    top = logits.max()
    return logits - (top + np.log(np.exp(logits - top).sum()))


def greedy_steps(model, ids, n_steps, end_ids):
    cache = make_prompt_cache(model)
    for first in range(0, len(ids), PREFILL_ROWS):
        logits = model(mx.array(ids[first : first + PREFILL_ROWS])[None], cache=cache)[0, -1]
        mx.eval(logits)
    steps = []
    while True:
        values = log_probabilities(logits)
        likeliest = np.argsort(-values, kind="stable")[:TOP]
        steps.append({"chosen": int(likeliest[0]), "topk": [[int(i), round(float(values[i]), 6)] for i in likeliest]})
        if len(steps) == n_steps or steps[-1]["chosen"] in end_ids:
            return steps
        logits = model(mx.array([[steps[-1]["chosen"]]]), cache=cache)[0, -1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, default=DEFAULT_PROMPTS)
    parser.add_argument("--name", help="what the files call the model [default: the directory's name]")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--cpu", action="store_true", help="compute on the CPU where there is a GPU too")
    arguments = parser.parse_args()

    if arguments.cpu:
        mx.set_default_device(mx.cpu)
    model, tokenizer = mlx_lm.load(str(arguments.model))
    if arguments.float32:
        to_float32(model)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for prompt in json.loads(arguments.prompts.read_text()):
        if not re.fullmatch(r"[a-z0-9_-]+", prompt["name"]):
            sys.exit(f"{arguments.prompts}: expected a name of a-z, 0-9, _ and -, found {prompt['name']!r}")
        ids = prompt_ids(tokenizer, prompt["chat"], prompt["text"])
        golden = {
            "model": arguments.name or arguments.model.resolve().name,
            "mlx_lm_version": mlx_lm.__version__,
            "dtype": "float32" if arguments.float32 else "bfloat16",
            "chat_template": prompt["chat"],
            "prompt": prompt["text"],
            "prompt_token_ids": ids,
            "steps": greedy_steps(model, ids, arguments.steps, tokenizer.eos_token_ids),
        }
        path = arguments.out / f"{prompt['name']}.json"
        path.write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
        print(f"{path}: {len(ids)} prompt ids, {len(golden['steps'])} steps", flush=True)


if __name__ == "__main__":
    main()
