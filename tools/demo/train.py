"""Trains the demo model on generated text. One process, one GPU (or a CPU for a smoke run).

Data workers generate and pack text while the GPU trains; nothing is repeated. Learning rate: warm-up, constant,
linear to zero. From --qat-from on, the forward pass sees the weights as the 4-bit file will hold them.
The mean of the weights over the last steps is what is saved (--out, bf16 shards); --state holds everything for --resume.
"""
import argparse
import json
import multiprocessing as mp
import os
import time

import numpy as np
import torch
from tokenizers import Tokenizer

from generators import corpus
from generators.example import segments
import model as M
import packing
import quant
from export import load_shards
from optim import Optimiser

MAX_DOCUMENTS = 1024


def worker(out, path, rows, length, index, workers, skip):
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    source = packing.batches(Tokenizer.from_file(path), rows, length, index, workers, corpus.SEED + skip)
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
    examples = [e for c in corpus.CATEGORIES for e in corpus.held_out(c, per_category, corpus.SEED + 1)]   # not the scored prompts
    names = [c for c in corpus.CATEGORIES for _ in range(per_category)]
    docs = packing.encode(tokenizer, [[(t, False) for t, _ in segments(e)[:-1]] + [(segments(e)[-1][0], True)] for e in examples])
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


def share_gradients(params, world):
    """Mean over the processes of torchrun, if there are several."""
    if world == 1:
        return
    grads = [p.grad for p in params.values()]
    flat = torch.cat([g.reshape(-1) for g in grads])
    torch.distributed.all_reduce(flat)
    for g, f in zip(grads, flat.div_(world).split([g.numel() for g in grads])):
        g.copy_(f.view_as(g))


def save(params, a):
    """bf16 shards of at most 15 MB."""
    shards, size = [{}], 0
    for n, p in params.items():
        t = p.detach().bfloat16().cpu()
        if size + t.nbytes > 15e6:
            shards.append({})
            size = 0
        shards[-1][n] = t
        size += t.nbytes
    for i, s in enumerate(shards):
        torch.save(s, f"{a.out}/shard{i}.tmp")
        os.replace(f"{a.out}/shard{i}.tmp", f"{a.out}/shard{i}.pt")


def rate(step, a):
    """Learning-rate factor: warm-up, constant, linear to zero."""
    x = (step - a.first_step) / (a.steps - a.first_step)
    return min(1, (step - a.first_step + 1) / a.warmup, max(0.0, (1 - x) / (1 - a.decay_from)))


def deadline(a):
    """Seconds from the start; --out/deadline, if somebody writes it, takes the place of --deadline."""
    try:
        with open(f"{a.out}/deadline", encoding="utf-8") as f:
            return float(f.read())
    except (OSError, ValueError):
        return a.deadline


def steps_until(a, step, elapsed, step_time, world):
    """The number of steps that fit before the deadline, the same in every process."""
    value = [step + max(1, int((deadline(a) - elapsed) / step_time))]
    if world > 1:
        torch.distributed.broadcast_object_list(value, src=0)
    return value[0]


class Average:
    """Exponential mean of the weights. A plain two-checkpoint mean took held-out sums from 80 to 97 %."""

    def __init__(self, params, decay):
        self.decay, self.steps = decay, 0
        self.params = {n: p.detach().clone() for n, p in params.items()}

    @torch.no_grad()
    def update(self, params):
        self.steps += 1
        share = 1 - min(self.decay, self.steps / (self.steps + 9))
        torch._foreach_lerp_(list(self.params.values()), list(params.values()), share)

    def weights(self):
        return {n: p.requires_grad_() for n, p in self.params.items()}   # as compiled: parameters need gradients


class Run:
    """One training run of this process: parameters, optimiser, data, log."""

    def __init__(self, a):
        self.a, self.began = a, time.time()
        self.rank, self.world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        params, self.step, state = M.init_params(a.seed, "cpu"), a.first_step, None
        if a.init:
            params = {n: t.float() for n, t in load_shards(a.init).items()}
        if a.resume:
            state = torch.load(a.state, map_location="cpu")
            params, self.step = state["params"], state["step"]
        self.first = self.step
        self.data = Data(a, self.step + self.rank * 7919)   # forks before the GPU is touched
        if self.world > 1:
            if a.device == "cuda":
                torch.cuda.set_device(self.rank)
            torch.distributed.init_process_group("nccl" if a.device == "cuda" else "gloo")
        self.params = {n: t.detach().to(a.device).requires_grad_() for n, t in params.items()}
        self.optimiser = Optimiser(self.params, a.muon_lr, a.adam_lr)
        self.average = Average(self.params, a.average)
        if state:
            self.optimiser.load_state_dict(state["optimiser"])
            self.average.params = {n: t.to(a.device) for n, t in state["average"].items()}
            self.average.steps = 10 ** 6
        self.blocks = M.Blocks(a.device == "cuda")
        self.cos, self.sin = M.rope_tables(a.length, a.device)
        self.held, self.losses, self.seen, self.timed_from = None, [], 0, None
        os.makedirs(a.out, exist_ok=True)
        self.log = open(f"{a.out}/log.jsonl" if self.rank == 0 else os.devnull, "a")

    def elapsed(self):
        return time.time() - self.began

    def wait_for_gpu(self):
        if self.a.device == "cuda":
            torch.cuda.synchronize()

    def tell(self, row):
        if self.rank == 0:
            print(json.dumps(row), flush=True)
            self.log.write(json.dumps(row) + "\n")
            self.log.flush()

    def train_step(self):
        a = self.a
        qat = self.step > self.first + 25 and self.step - a.first_step >= a.qat_from * (a.steps - a.first_step)
        batch = to_device(self.data.get(), a.device)
        loss, balance, _ = forward(effective(self.params, qat, a.dtype), self.blocks, batch, self.cos, self.sin)
        (loss + a.balance * balance).backward()
        share_gradients(self.params, self.world)
        torch.nn.utils.clip_grad_norm_(self.params.values(), 1.0, foreach=True)
        self.optimiser.step(rate(self.step, a))
        self.average.update(self.params)
        self.losses.append(loss.detach())
        self.step += 1
        self.seen += a.rows * a.length * self.world

    def report(self):
        value = torch.stack(self.losses).mean().item()
        self.losses = []
        speed = self.seen / (time.time() - self.timed_from) if self.timed_from else 0
        self.tell({"step": self.step, "loss": round(value, 4), "tok_s": int(speed), "s": int(self.elapsed())})

    def evaluate(self):
        self.held = self.held or held_batches(Tokenizer.from_file(self.a.tokenizer), self.a, self.a.held)
        for name, weights in (("last", self.params), ("average", self.average.weights())):
            held = evaluate(weights, self.blocks, self.held, self.cos, self.sin, self.a, True)
            self.tell({"step": self.step, "weights": name, "held_4bit": held})

    def save(self, full=False):
        save(self.average.params, self.a)
        if full:
            plain = {n: p.detach() for n, p in self.params.items()}
            torch.save({"params": plain, "average": self.average.params, "optimiser": self.optimiser.state_dict(), "step": self.step}, self.a.state)

    def run(self):
        a, saved = self.a, time.time()
        while self.step < a.steps and self.elapsed() < a.stop_after:
            done = self.step - self.first
            if a.deadline and (done == 25 or done and done % 200 == 0):
                self.wait_for_gpu()
                a.steps = steps_until(a, self.step, self.elapsed(), (time.time() - self.timed_from) / (done - 5), self.world)
            self.train_step()
            if self.step == self.first + 5:
                self.wait_for_gpu()
                self.timed_from, self.seen = time.time(), 0
            if self.step % 50 == 0:
                self.report()
            if self.rank == 0 and time.time() - saved > a.save_every:
                self.save()
                saved = time.time()
            if self.rank == 0 and self.step % a.eval_every == 0 and self.step < a.steps:
                self.evaluate()
        if self.rank == 0:
            self.save(full=not a.deadline)
            self.evaluate()
        self.data.stop()


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tokenizer", required=True)
    p.add_argument("--out", required=True, help="folder of the shards and the log")
    p.add_argument("--state", default="/tmp/demo-state.pt", help="everything, for --resume")
    p.add_argument("--steps", type=int, default=9000)
    p.add_argument("--deadline", type=float, default=0, help="seconds from the start of the program; replaces --steps by what fits")
    p.add_argument("--stop-after", type=float, default=1e9, help="seconds; ends early with everything saved for --resume")
    p.add_argument("--rows", type=int, default=32)
    p.add_argument("--length", type=int, default=2048)
    p.add_argument("--workers", type=int, default=14)
    p.add_argument("--warmup", type=int, default=150)
    p.add_argument("--decay-from", type=float, default=0.3)
    p.add_argument("--qat-from", type=float, default=0.75)
    p.add_argument("--muon-lr", type=float, default=0.015)
    p.add_argument("--adam-lr", type=float, default=2e-3)
    p.add_argument("--balance", type=float, default=0.002)
    p.add_argument("--average", type=float, default=0.998, help="decay of the mean of the weights")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--eval-every", type=int, default=1000)
    p.add_argument("--held", type=int, default=100)
    p.add_argument("--save-every", type=float, default=60, help="seconds")
    p.add_argument("--init", help="folder of shards to begin with, at --first-step")
    p.add_argument("--first-step", type=int, default=0)
    p.add_argument("--resume", action="store_true")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a = p.parse_args()
    a.dtype = torch.bfloat16 if a.device == "cuda" else torch.float32
    return a


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    Run(arguments()).run()
