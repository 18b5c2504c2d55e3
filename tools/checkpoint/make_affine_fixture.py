"""Writes tests/data/checkpoint/affine.safetensors: groups of 64 bf16 values and what mlx.core.quantize makes of them.

Usage: python make_affine_fixture.py OUTPUT.safetensors
Tensors: values [n, 64] BF16; for 4 and 8 bits codes{bits} U32, scales{bits} and biases{bits} BF16.
"""

import sys

import mlx.core as mx
import numpy as np


def edge_groups(rng):
    """Groups whose scale, bias or rounding is special, one a row."""
    normal = lambda count: rng.standard_normal((count, 64))
    outlier = np.zeros((16, 64))
    outlier[np.arange(16), np.arange(16) * 4 % 64] = rng.standard_normal(16) * 10.0 ** rng.integers(-30, 30, 16)
    tie = normal(8)
    tie[:, 0], tie[:, 1] = 9.0, -9.0
    return [
        np.zeros((1, 64)),
        -np.zeros((1, 64)),
        np.repeat(normal(8)[:, :1], 64, axis=1),  # all equal
        outlier,
        tie,  # both ends equally far from zero
        normal(8) * 1e-39,  # subnormal
        normal(8) * 1e-8,  # the step is held at 1e-7
        normal(8) * 1e-6,
        normal(8) * 1e37,
        rng.choice([-1.0, 1.0], (4, 64)) * 3e38,  # the range overflows f32
        -np.abs(normal(8)),
        np.abs(normal(8)),
        normal(8) + 100,  # zero far outside the range
        normal(8) * 1e-3 - 100,
        rng.integers(-8, 8, (32, 64)).astype(float),  # many values exactly between two codes
        rng.integers(-128, 128, (32, 64)).astype(float) / 16,
    ]


def main():
    rng = np.random.default_rng(20260611)
    scales = 10.0 ** rng.uniform(-6, 3, (96, 1))
    shifts = rng.choice([0.0, 0.0, 1.0, -1.0], (96, 1)) * 10.0 ** rng.uniform(-6, 3, (96, 1))
    groups = edge_groups(rng) + [rng.standard_normal((96, 64)) * scales + shifts]
    values = mx.array(np.concatenate(groups).astype(np.float32)).astype(mx.bfloat16)
    tensors = {"values": values}
    for bits in (4, 8):
        codes, scale, bias = mx.quantize(values, group_size=64, bits=bits, mode="affine")
        tensors |= {f"codes{bits}": codes, f"scales{bits}": scale, f"biases{bits}": bias}
    mx.save_safetensors(sys.argv[1], tensors)
    print(values.shape[0], "groups")


main()
