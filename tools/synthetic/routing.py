"""How unevenly the router chooses.

uniform: random rows; every expert is about as likely as any other.
zipf: as real text does, few experts take most tokens. Every embedding row has a common part (its first group of 64
columns is 1 higher), and each layer's router weighs it for expert e by -STEEPNESS * ln(rank of e), with the ranks
shuffled anew in each layer.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fixtures"))

from seeded_weights import GROUP, from_bf16_bits, to_bf16_bits  # noqa: E402

COMMON = np.float32(1.0)
STEEPNESS = 0.8
COMMON_AFTER_NORM = 0.9  # what is left of COMMON after RMSNorm of a residual stream of deviation 1.1


def bias(entry, biases, routing, random):
    """The biases [rows, groups] (bf16 bits) of an embedding or a router, changed for `routing`; others as they are."""
    if routing != "zipf" or not entry.name.endswith(("embedding", "router")):
        return biases
    values = from_bf16_bits(biases)
    if entry.name == "embedding":
        values[:, 0] += COMMON
    else:
        wanted = -STEEPNESS * np.log(1.0 + random.permutation(values.shape[0]))
        values[:, 0] += ((wanted - wanted.mean()) / (GROUP * COMMON_AFTER_NORM)).astype(np.float32)
    return to_bf16_bits(values)
