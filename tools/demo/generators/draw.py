"""Seeded choices that respect the split.

Every example is a function of (seed, split, index). `split` is "train" or "held": entities are divided by a
hash of their text, wordings by explicit lists, so nothing that the scorer asks with was trained on.
"""
import random
import zlib

HELD_PERCENT = 12


def is_held(text):
    return zlib.crc32(text.encode()) % 100 < HELD_PERCENT


class Draw(random.Random):
    def __init__(self, seed, split, index):
        super().__init__(f"{seed}:{split}:{index}")
        self.split = split

    @property
    def held(self):
        return self.split == "held"

    def entity(self, pool):
        """One element of the pool on this side of the split (hash of its first string)."""
        key = lambda e: e if isinstance(e, str) else str(e[0])
        for _ in range(200):
            e = self.choice(pool)
            if is_held(key(e)) == self.held:
                return e
        raise ValueError(f"pool has no {self.split} element: {pool[:3]}")

    def wording(self, train, held):
        return self.choice(held if self.held else train)

    def chance(self, p):
        return self.random() < p

    def coin(self, mapping):
        """Weighted choice from {value: weight}."""
        return self.choices(list(mapping), list(mapping.values()))[0]

    def language(self, spanish=0.4):
        return "es" if self.chance(spanish) else "en"
