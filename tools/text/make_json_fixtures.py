#!/usr/bin/env python3
"""Writes tests/data/text/python_json.txt: a line of JSON, then the line that json.dumps(ensure_ascii=False) makes of it."""
import json
import math
import pathlib
import random
import struct

import make_chat_fixtures

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "text" / "python_json.txt"


def main():
    r = random.Random(11)
    raws = list(make_chat_fixtures.NUMBERS)
    for _ in range(400):  # any double
        value = struct.unpack("<d", r.randbytes(8))[0]
        if math.isfinite(value):
            raws.append(r.choice([repr, "%.17g".__mod__, "%.6e".__mod__, "%.20e".__mod__])(value))
    for _ in range(200):  # the border between the two notations
        raws.append("%.*e" % (r.randint(0, 17), r.uniform(1, 10) * 10.0 ** r.randint(-7, 18)))
    for _ in range(100):
        raws.append(str(r.randrange(-10 ** r.randint(1, 40), 10 ** r.randint(1, 40))))
    maker = make_chat_fixtures.Maker(5)
    while len(raws) < 900:
        raw = maker.json_value()
        if "\n" not in raw:
            raws.append(raw)
    raws += ['{"b":1,"a":2,"b":3}', '"\\ud83d\\ude00 \\u00e9 \\/ \\b\\f"', " [ ] ", "{ }", "[[[[]]]]", "NaN", "[Infinity,-Infinity]"]
    lines = [line for raw in raws for line in (raw, json.dumps(json.loads(raw), ensure_ascii=False))]
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(raws), "pairs")


if __name__ == "__main__":
    main()
