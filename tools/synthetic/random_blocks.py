"""Random weights by the gigabyte: a pool of random codes, scales and biases, cut at random places.

Drawing 20 GB of random numbers would take minutes; copying pieces of 64 MB takes seconds. No two pieces of codes start
at the same place, so no two experts are equal.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fixtures"))

from seeded_weights import GROUP, from_bf16_bits, to_bf16_bits  # noqa: E402

POOL_BYTES = 64 << 20
PIECE_BYTES = 8 << 20  # a matrix longer than this is made of several pieces
POOL_GROUPS = 1 << 22
MIDDLE = {4: 7.5, 8: 127.5}
DEVIATION = {4: 4.8, 8: 77.0}  # of uniform codes


class RandomBlocks:
    def __init__(self, seed):
        self.random = np.random.Generator(np.random.SFC64(seed))
        self.pool = memoryview(self.random.bytes(POOL_BYTES))
        self.sizes = (np.float32(0.5) + self.random.random(POOL_GROUPS, np.float32)) * self.random.choice(
            np.array([-1, 1], np.float32), POOL_GROUPS
        )
        self.jitter = np.float32(0.9) + np.float32(0.2) * self.random.random(POOL_GROUPS, np.float32)
        self.scaled, self.used = {}, set()

    def _place(self, piece_bytes):
        while True:
            place = int(self.random.integers((POOL_BYTES - piece_bytes) // 32)) * 32
            if place not in self.used:
                self.used.add(place)
                return place

    def codes(self, n_matrices, matrix_bytes):
        """Yields the bytes of so many matrices."""
        for _ in range(n_matrices):
            for first in range(0, matrix_bytes, PIECE_BYTES):
                size = min(PIECE_BYTES, matrix_bytes - first)
                place = self._place(size)
                yield self.pool[place : place + size]

    def _scaled(self, gain, columns, bits):
        """bf16 scales and biases whose weights have a deviation of gain / sqrt(columns)."""
        made = self.scaled.get((gain, columns, bits))
        if made is None:
            base = np.float32(gain / np.sqrt(columns) / DEVIATION[bits])
            scales = to_bf16_bits(base * self.sizes)
            biases = to_bf16_bits(np.float32(-MIDDLE[bits]) * from_bf16_bits(scales) * self.jitter)
            made = self.scaled[gain, columns, bits] = (scales, biases)
        return made

    def scales(self, rows, columns, gain, bits):
        """(scales, biases), each [rows, columns / 64] bf16 bits."""
        scales, biases = self._scaled(gain, columns, bits)
        n_groups = rows * columns // GROUP
        pieces = []
        while n_groups > 0:
            size = min(n_groups, POOL_GROUPS // 4)
            place = int(self.random.integers(POOL_GROUPS - size + 1))
            pieces.append(slice(place, place + size))
            n_groups -= size
        shape = (rows, columns // GROUP)
        return tuple(np.concatenate([part[piece] for piece in pieces]).reshape(shape) for part in (scales, biases))

    def vector(self, entry):
        """float32 of the entry's range; A_log and dt_bias climb from head to head."""
        values = self.random.random(entry.dims, np.float32)
        if entry.climbing:
            values = (np.arange(entry.dims[0], dtype=np.float32) + values) / np.float32(entry.dims[0])
        return np.float32(entry.low) + np.float32(entry.high - entry.low) * values

    def q4(self, n_values, block_values, block_bytes, header):
        """Yields GGUF blocks: `header` bytes of block scales first, then random bytes."""
        if "q4" not in self.scaled:
            blocks = np.frombuffer(self.random.bytes(POOL_BYTES // block_bytes * block_bytes), np.uint8)
            blocks = blocks.reshape(-1, block_bytes).copy()
            blocks[:, : len(header)] = np.frombuffer(header, np.uint8)
            self.scaled["q4"] = memoryview(blocks.reshape(-1))
        pool = self.scaled["q4"]
        left = n_values // block_values * block_bytes
        while left > 0:
            size = min(left, PIECE_BYTES // block_bytes * block_bytes)
            place = int(self.random.integers((len(pool) - size) // block_bytes)) * block_bytes
            yield pool[place : place + size]
            left -= size
