"""Documents as packed rows of tokens, for training."""
import itertools

import numpy as np

from generators import corpus

PROMPT_WEIGHT = 0.0   # of prompt tokens in the loss; replies weigh 1


def encode(tokenizer, documents):
    """[(tokens, weights)] of documents given as segments."""
    flat = [text for doc in documents for text, _ in doc]
    encoded = iter(tokenizer.encode_batch_fast(flat, add_special_tokens=False))
    out = []
    for doc in documents:
        ids, weights = [], []
        for _, trained in doc:
            piece = next(encoded).ids
            ids += piece
            weights += [1.0 if trained else PROMPT_WEIGHT] * len(piece)
        out.append((np.array(ids, np.int32), np.array(weights, np.float32)))
    return out


def pack(pool, rows, length, pad):
    """Fills `rows` rows first-fit, longest first, and returns the batch and the documents left over.

    tokens, position (inside the document), targets [rows, length] int32; weights f32 of each target."""
    pool.sort(key=lambda d: -len(d[0]))
    room, placed, left = [length] * rows, [[] for _ in range(rows)], []
    for doc in pool:
        if len(doc[0]) > length:
            continue
        row = next((r for r in range(rows) if room[r] >= len(doc[0])), None)
        if row is None:
            left.append(doc)
        else:
            room[row] -= len(doc[0])
            placed[row].append(doc)
    tokens = np.full((rows, length), pad, np.int32)
    position, targets = np.zeros_like(tokens), np.full_like(tokens, pad)
    weights = np.zeros((rows, length), np.float32)
    for r, docs in enumerate(placed):
        at = 0
        for ids, w in docs:
            n = len(ids)
            tokens[r, at:at + n], position[r, at:at + n] = ids, np.arange(n)
            targets[r, at:at + n - 1], weights[r, at:at + n - 1] = ids[1:], w[1:]
            at += n
        position[r, at:] = np.arange(length - at)
    return (tokens, position, targets, weights), left


def batches(tokenizer, rows, length, worker, workers, seed=corpus.SEED):
    """Endless packed batches of one worker; batch and content depend on (seed, worker, workers) alone."""
    pad = tokenizer.token_to_id("<|endoftext|>")
    indices = itertools.count(worker, workers)
    pool = []
    while True:
        total = sum(len(d[0]) for d in pool)
        while total < rows * length * 1.06:
            fresh = encode(tokenizer, [corpus.document(i, seed) for i in itertools.islice(indices, 64)])
            pool += fresh
            total += sum(len(d[0]) for d in fresh)
        batch, pool = pack(pool, rows, length, pad)
        yield batch
