#!/usr/bin/env python3
"""Writes more strings than a fixture holds, and the ids that Hugging Face `tokenizers` gives them.

20,000 different short strings of the kinds of token_strings.py (scripts, combining marks, emoji, code, white space,
control look-alikes), documents made of them, and texts of a megabyte each: prose, code, one word, spaces, line ends,
emoji, marks, digits, look-alikes, bytes of every script at random.

Usage: many_strings.py TOKENIZER OUT_STRINGS OUT_IDS   (needs check_requirements.txt)
"""
import json
import pathlib
import random
import sys
import unicodedata

import tokenizers

import token_strings

N_STRINGS = 20_000
MEGABYTE = 1_000_000


def different_strings():
    seen = {}
    seed = 1000
    while len(seen) < N_STRINGS:
        seen.update(dict.fromkeys(token_strings.strings(seed)))
        seed += 1
    return list(seen)


def documents(r, short):
    """A few hundred strings joined, so that pieces meet in ways that short strings do not show."""
    return ["".join(r.choice(short) for _ in range(r.randint(20, 300))) for _ in range(60)]


def filled(r, pool, n_bytes=MEGABYTE, between=""):
    parts, size = [], 0
    while size < n_bytes:
        parts.append(r.choice(pool) + between)
        size += len(parts[-1].encode())
    return "".join(parts)


def megabytes(r, short):
    letters = "abcdefghijklmnopqrstuvwxyz"
    marks = token_strings.characters(lambda c: unicodedata.category(c).startswith("M"))
    controls = [token["content"] for token in token_strings.added_tokens()]
    return {
        "prose": filled(r, token_strings.PHRASES + [" ".join(r.sample(token_strings.WORDS, 9)) + "." for _ in range(99)],
                        between=" "),
        "code": filled(r, token_strings.CODE, between="\n"),
        "a word": filled(r, letters),
        "a word of words": filled(r, token_strings.WORDS),
        "one letter": "a" * MEGABYTE,
        "spaces": " " * MEGABYTE,
        "spaces before a letter": " " * MEGABYTE + "x",
        "white space": filled(r, token_strings.SPACES),
        "line ends": filled(r, ["\n", "\r\n", "\r", "\n \n", "\t\n"]),
        "emoji": filled(r, token_strings.EMOJI),
        "marks of one letter": "e" + filled(r, marks),
        "letters with marks": filled(r, ["a", "e", "o"] + marks),
        "not NFC": filled(r, token_strings.NOT_NFC),
        "digits": filled(r, "0123456789"),
        "punctuation": filled(r, "!?.,;:-_'\"()[]{}<>|/\\"),
        "look-alikes": filled(r, [part for text in controls for part in (text, text[:-1], text[1:], "<" + text)]),
        "everything": filled(r, short),
    }


def main():
    tokenizer_path, strings_path, ids_path = sys.argv[1:]
    r = random.Random(5)
    short = different_strings()
    large = megabytes(r, short)
    texts = short + documents(r, short) + list(large.values())
    tokenizer = tokenizers.Tokenizer.from_file(tokenizer_path)
    ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    pathlib.Path(strings_path).write_text(json.dumps(texts))
    pathlib.Path(ids_path).write_text(json.dumps(ids))
    print(f"{len(short)} strings, {len(texts) - len(short) - len(large)} documents, {len(large)} megabytes")


if __name__ == "__main__":
    main()
