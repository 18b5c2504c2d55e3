"""Trains the demo's byte-level BPE and writes tokenizer.json. Deterministic: the corpus is seeded.

Same normaliser, split pattern and added tokens as the real model's; 4096 rows in all. The merges are learnt on a finer split
(PIECES), so no token joins a letter to a space or a mark: a word has the same tokens after a space, a quote, `=`, `_` or a line
break. So copying a name from a tool list into a call is copying token by token."""
import argparse
import json

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from generators import corpus

VOCAB = 4096
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
# What a token may hold: letters, or one digit, or marks of JSON and tags, or one other mark, or blanks; a space also before marks of JSON.
PIECES = r"[\p{L}\p{M}]+|\p{N}| ?[\"{}\[\]:,]+|</|>[\r\n]+|[\r\n]+|\s+|[^\s\p{L}\p{M}\p{N}]"
# Order and flags of the real tokenizer: (content, special).
ADDED = [(t, True) for t in ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",
                             "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>")]
ADDED += [(t, False) for t in ("<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",
                               "<tool_response>", "</tool_response>", "<think>", "</think>")]
ADDED += [(t, True) for t in ("<|audio_start|>", "<|audio_end|>", "<tts_pad>", "<tts_text_bos>", "<tts_text_eod>", "<tts_text_bos_single>", "<|audio_pad|>")]


def texts(count):
    markers = [t for t, _ in ADDED]
    for i in range(count):
        for text, _ in corpus.document(i, corpus.SEED + 1):
            for m in markers:
                if m in text:
                    text = text.replace(m, "\0")
            yield from (t for t in text.split("\0") if t)


def train(count):
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    splits = [pre_tokenizers.Split(Regex(x), behavior="isolated", invert=False) for x in (SPLIT, PIECES)]
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    tok.pre_tokenizer = pre_tokenizers.Sequence([*splits, to_bytes])
    tok.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    tok.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    trainer = trainers.BpeTrainer(vocab_size=VOCAB - len(ADDED), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=[], show_progress=False)
    tok.train_from_iterator(texts(count), trainer)
    tok.pre_tokenizer = pre_tokenizers.Sequence([splits[0], to_bytes])
    for content, special in ADDED:   # one by one: a mixed batch would put special ones first
        token = AddedToken(content, special=special, normalized=False)
        tok.add_special_tokens([token]) if special else tok.add_tokens([token])
    return tok


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("out")
    p.add_argument("--documents", type=int, default=30000)
    a = p.parse_args()
    tok = train(a.documents)
    tok.save(a.out)
    print(tok.get_vocab_size(), "tokens;", json.dumps({t: tok.token_to_id(t) for t, _ in ADDED[:3]}))
