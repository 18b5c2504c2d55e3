#!/usr/bin/env python3
"""Tokenizes the fixture strings with Hugging Face `tokenizers` and writes tests/data/text/.

Needs tools/text/requirements.txt. The ids of the real vocabulary are committed, its tokenizer.json is not (20 MB):
real_tokenizer.py rebuilds it.

Usage: make_token_fixtures.py train               writes small_tokenizer.json (a vocabulary of 2,048)
       make_token_fixtures.py strings             writes token_strings.json and token_pieces.json: into how many
                                                  pieces the split expression cuts each string
       make_token_fixtures.py ids NAME TOKENIZER  writes token_ids_NAME.json, one list of ids a string
"""
import json
import pathlib
import sys

import tokenizers

import real_tokenizer
import token_strings

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "text"


def write(name, rows):
    body = ",\n".join(json.dumps(row, ensure_ascii=True, separators=(",", ":")) for row in rows)
    (DATA / name).write_text(f"[\n{body}\n]\n")
    print(f"{name}: {len(rows)} rows")


def train():
    """A vocabulary with the real one's format, trained on the phrases."""
    skeleton = real_tokenizer.build({bytes([b]): b for b in range(256)})
    skeleton["added_tokens"] = []
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(skeleton))
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=2015, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    text = token_strings.PHRASES * 3 + token_strings.CODE + [" ".join(token_strings.WORDS)] * 3
    tokenizer.train_from_iterator(text, trainer)
    trained = json.loads(tokenizer.to_str())
    trained["added_tokens"] = real_tokenizer.added_tokens(len(trained["model"]["vocab"]))
    (DATA / "small_tokenizer.json").write_text(json.dumps(trained, ensure_ascii=False, indent=None), encoding="utf-8")
    print("small_tokenizer.json:", len(trained["model"]["vocab"]), "base tokens")


def strings():
    texts = token_strings.strings()
    write("token_strings.json", texts)
    tokenizer = tokenizers.Tokenizer.from_file(str(DATA / "small_tokenizer.json"))
    normal = [tokenizer.normalizer.normalize_str(text) for text in texts]
    write("token_pieces.json", [[len(tokenizer.pre_tokenizer.pre_tokenize_str(text)) for text in normal]])


def ids(name, path):
    tokenizer = tokenizers.Tokenizer.from_file(path)
    strings = json.loads((DATA / "token_strings.json").read_text())
    write(f"token_ids_{name}.json", [tokenizer.encode(text, add_special_tokens=False).ids for text in strings])


def main():
    DATA.mkdir(parents=True, exist_ok=True)
    match sys.argv[1:]:
        case ["train"]:
            train()
        case ["strings"]:
            strings()
        case ["ids", name, path]:
            ids(name, path)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
