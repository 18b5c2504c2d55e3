"""Trains the demo model on generated text. One process, one GPU (or a CPU for a smoke run).

Data workers generate and pack text while the GPU trains; nothing is repeated. Learning rate: warm-up, constant,
linear to zero. From --qat-from on, the forward pass sees the weights as the 4-bit file will hold them.
Interrupt and resume with --resume; checkpoints go to --out as bf16 shards and to --state in full.
"""
import argparse
import json
import multiprocessing as mp
import os
import queue
import time

import numpy as np
import torch
from tokenizers import Tokenizer

import corpus
import model as M
import quant
from optim import Optimiser

MAX_DOCUMENTS = 1024


def worker(out, path, rows, length, index, workers, skip):
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    source = corpus.batches(Tokenizer.from_file(path), rows, length, index, workers, corpus.SEED + skip)
    while True:
        out.put(next(source))


class Data:
    """Batches from worker processes, in a fixed order: worker 0, 1, .. again and again."""

    def __init__(self, a, skip):
        ctx = mp.get_context("fork")
        self.queues = [ctx.Queue(6) for _ in range(a.workers)]
        self.processes = [ctx.Process(target=worker, args=(q, a.tokenizer, a.rows, a.length, i, a.workers, skip), daemon=True)
                          for i, q in enumerate(self.queues)]
        for p in self.processes:
            p.start()
        self.next = 0

    def get(self):
        q = self.queues[self.next]
        self.next = (self.next + 1) % len(self.queues)
        return q.get(timeout=120)

    def stop(self):
        for p in self.processes:
            p.terminate()


def to_device(batch, device):
    tokens, position, targets, weights = batch
    starts = np.flatnonzero(position.reshape(-1) == 0)
    assert len(starts) <= MAX_DOCUMENTS, len(starts)
    cu = np.full(MAX_DOCUMENTS + 1, tokens.size, np.int32)
    cu[:len(starts)] = starts
    arrays = [torch.from_numpy(x) for x in (tokens, position, targets, weights, cu)]
    if device == "cuda":
        arrays = [x.pin_memory().to(device, non_blocking=True) for x in arrays]
    tokens, position, targets, weights, cu = arrays
    return tokens.long(), position.long(), targets.long(), weights, cu


def effective(params, qat, dtype):
    """The weights of the forward pass: matrices in `dtype`, routers and vectors f32."""
    if qat:
        params = quant.fake(params)
    return {n: p.to(dtype) if quant.bits_of(n) == 4 else p for n, p in params.items()}


def forward(P, blocks, batch, cos, sin):
    tokens, position, targets, weights, cu = batch
    x, balance = M.hidden_states(P, blocks, tokens, position, cos, sin, cu)
    loss, right = blocks.head(x, P["norm.weight"], P["lm_head.weight"], targets, weights)
    return loss, balance, right


def held_batches(tokenizer, a, per_category):
    """[(batch arrays, [(category, row, first, last)])]: held-out examples, packed in order."""
    pad = tokenizer.token_to_id("<|endoftext|>")
    examples = [e for c in corpus.CATEGORIES for e in corpus.held_out(c, per_category)]
    names = [c for c in corpus.CATEGORIES for _ in range(per_category)]
    from example import segments
    docs = corpus.encode(tokenizer, [[(t, False) for t, _ in segments(e)[:-1]] + [(segments(e)[-1][0], True)] for e in examples])
    out, at = [], 0
    while at < len(docs):
        tokens = np.full((a.rows, a.length), pad, np.int32)
        position, targets = np.zeros_like(tokens), np.full_like(tokens, pad)
        weights, where = np.zeros(tokens.shape, np.float32), []
        used = 0
        for r in range(a.rows):
            c = 0
            while at < len(docs) and (len(docs[at][0]) > a.length or c + len(docs[at][0]) <= a.length) and used < MAX_DOCUMENTS - a.rows - 1:
                ids, w = docs[at]
                n = len(ids)
                if n <= a.length:
                    tokens[r, c:c + n], position[r, c:c + n] = ids, np.arange(n)
                    targets[r, c:c + n - 1], weights[r, c:c + n - 1] = ids[1:], w[1:] == 1
                    where.append((names[at], r, c, c + n - 1))
                    c, used = c + n, used + 1
                at += 1
            position[r, c:] = np.arange(a.length - c)
        out.append(((tokens, position, targets, weights), where))
    return out


def evaluate(params, blocks, held, cos, sin, a, qat):
    """Share of held-out replies of which every greedy token is the expected one, by category."""
    P = effective(params, qat, a.dtype)
    good, total = {}, {}
    for arrays, where in held:
        batch = to_device(arrays, a.device)
        right = (forward(P, blocks, batch, cos, sin)[2] | (batch[3] == 0)).cpu().numpy()
        for name, r, first, last in where:
            good[name] = good.get(name, 0) + bool(right[r, first:last].all())
            total[name] = total.get(name, 0) + 1
    return {n: round(100 * good[n] / total[n], 1) for n in total}


def save(params, optimiser, step, a, full):
    os.makedirs(a.out, exist_ok=True)
    names, shard, size, shards = list(params), {}, 0, []
    for n in names:
        t = params[n].detach().bfloat16().cpu()
        if size + t.nbytes > 15e6:
            shards.append(shard)
            shard, size = {}, 0
        shard[n] = t
        size += t.nbytes
    shards.append(shard)
    for i, s in enumerate(shards):
        torch.save(s, f"{a.out}/shard{i}.tmp")
        os.replace(f"{a.out}/shard{i}.tmp", f"{a.out}/shard{i}.pt")
    if full:
        torch.save({"params": {n: p.detach() for n, p in params.items()}, "optimiser": optimiser.state_dict(), "step": step}, a.state)


def rate(step, a):
    x = step / a.steps
    return min(1, (step + 1) / a.warmup, max(0.0, (1 - x) / (1 - a.decay_from)))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tokenizer", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--state", default="/tmp/demo-state.pt")
    p.add_argument("--steps", type=int, default=9000)
    p.add_argument("--stop-after", type=float, default=1e9, help="seconds, counted from the start of the program")
    p.add_argument("--rows", type=int, default=32)
    p.add_argument("--length", type=int, default=2048)
    p.add_argument("--workers", type=int, default=14)
    p.add_argument("--warmup", type=int, default=150)
    p.add_argument("--decay-from", type=float, default=0.35)
    p.add_argument("--qat-from", type=float, default=0.7)
    p.add_argument("--muon-lr", type=float, default=0.02)
    p.add_argument("--adam-lr", type=float, default=3e-3)
    p.add_argument("--balance", type=float, default=0.002)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--eval-every", type=int, default=500)
    p.add_argument("--held", type=int, default=100)
    p.add_argument("--save-every", type=float, default=100, help="seconds")
    p.add_argument("--resume", action="store_true")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a = p.parse_args()
    start = time.time()
    a.dtype = torch.bfloat16 if a.device == "cuda" else torch.float32
    torch.set_float32_matmul_precision("high")
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    params = M.init_params(a.seed, "cpu")
    step = 0
    state = torch.load(a.state, map_location="cpu") if a.resume else None
    if state:
        params = {n: t.clone().requires_grad_() for n, t in state["params"].items()}
        step = state["step"]
    data = Data(a, step)   # forks before the GPU is touched
    params = {n: t.detach().to(a.device).requires_grad_() for n, t in params.items()}
    optimiser = Optimiser(params, a.muon_lr, a.adam_lr)
    if state:
        optimiser.load_state_dict(state["optimiser"])
    blocks = M.Blocks(a.device == "cuda")
    cos, sin = M.rope_tables(a.length, a.device)
    held = held_batches(Tokenizer.from_file(a.tokenizer), a, a.held)
    log = open(f"{a.out}/log.jsonl", "a") if os.path.isdir(a.out) or not os.makedirs(a.out) else None
    first, seen, t0, saved = step, 0, None, time.time()
    losses = []
    while step < a.steps and time.time() - start < a.stop_after:
        qat = step >= a.qat_from * a.steps
        loss, balance, right = forward(effective(params, qat, a.dtype), blocks, to_device(data.get(), a.device), cos, sin)
        (loss + a.balance * balance).backward()
        torch.nn.utils.clip_grad_norm_(params.values(), 1.0, foreach=True)
        optimiser.step(rate(step, a))
        losses.append(loss.detach())
        step += 1
        if step == first + 5:
            if a.device == "cuda":
                torch.cuda.synchronize()
            t0, seen = time.time(), 0
            print(f"first 5 steps: {t0 - start:.0f} s after start", flush=True)
        seen += a.rows * a.length
        if step % 50 == 0 and t0:
            value = torch.stack(losses).mean().item()
            losses = []
            row = {"step": step, "loss": round(value, 4), "balance": round(balance.item(), 3), "tok_s": int(seen / (time.time() - t0)), "s": int(time.time() - start)}
            print(json.dumps(row), flush=True)
            log.write(json.dumps(row) + "\n")
        if step % a.eval_every == 0 or step == a.steps:
            for q in ((True,) if qat else (False, True)):
                row = {"step": step, "quantised": q, "held": evaluate(params, blocks, held, cos, sin, a, q)}
                print(json.dumps(row), flush=True)
                log.write(json.dumps(row) + "\n")
            log.flush()
        if time.time() - saved > a.save_every:
            save(params, optimiser, step, a, False)
            saved = time.time()
    save(params, optimiser, step, a, True)
    print(f"done at step {step}, {time.time() - start:.0f} s", flush=True)
    log.close()
    data.stop()


if __name__ == "__main__":
    main()
