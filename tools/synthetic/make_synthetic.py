"""Writes a random checkpoint of a given shape in the public MLX 4-bit layout, for sizes and speeds; it means nothing.

    make_synthetic.py --shape qwen36|slice|probe|demo --out DIR [--routing uniform|zipf] [--seed N] [--tokenizer DIR]
                      [--gguf FILE [--gguf-type q4_0|q4_K]]

qwen36 is the real model: 1757 tensors, 19,508,787,456 bytes, four files. slice is its first four layers. Activations
stay of order 1, routing is spread evenly (uniform) or as unevenly as real text does (zipf). The same arguments give the
same bytes. --tokenizer copies tokenizer.json and what belongs to it from another checkpoint; without it only `inspect`
and `bench` can use the result. --gguf writes a random file of the same shape and about the same bits a weight in
llama.cpp's format instead, for timing other engines on the same machine. Needs numpy only.
"""

import argparse
import dataclasses
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fixtures"))

import numpy as np  # noqa: E402

import gguf_file  # noqa: E402
import names  # noqa: E402
import output  # noqa: E402
import routing  # noqa: E402
from random_blocks import RandomBlocks  # noqa: E402
from seeded_weights import GROUP, MatrixEntry, layout, to_bf16_bits  # noqa: E402
from shapes import ALL_SHAPES  # noqa: E402

# Of the published checkpoint: tensors and bytes of its text model.
TOTALS = {"qwen36": (1757, 19_508_787_456)}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")
REAL_END_IDS = [248046, 248044]


def tamed(entry, shape):
    """The entry with a gain that keeps the residual stream of order 1 however many layers add to it."""
    if entry.name.endswith(("_out", "_down")):
        return dataclasses.replace(entry, gain=entry.gain / np.sqrt(shape.layers))
    return entry


def tensor_parts(entry):
    """The file's tensors of an entry: (name, dtype, dims)."""
    if isinstance(entry, MatrixEntry):
        module = "language_model." + names.module(entry.name)
        *rows, columns = entry.dims
        return [
            (module + ".weight", "U32", (*rows, columns * entry.bits // 32)),
            (module + ".scales", "BF16", (*rows, columns // GROUP)),
            (module + ".biases", "BF16", (*rows, columns // GROUP)),
        ]
    dims = (*entry.dims, 1) if entry.name.endswith("gdn_conv") else entry.dims
    return [("language_model." + names.parameter(entry.name), "BF16", dims)]


class Contents:
    """The bytes of each tensor by its name, asked for in the file's order: weight, scales, biases."""

    def __init__(self, entries, seed, routing_kind):
        self.blocks, self.routing = RandomBlocks(seed), routing_kind
        self.entries = {part[0]: entry for entry in entries for part in tensor_parts(entry)}
        self.biases = {}

    def __call__(self, name):
        entry = self.entries[name]
        if not isinstance(entry, MatrixEntry):
            return [to_bf16_bits(self.blocks.vector(entry)).tobytes()]
        *outer, rows, columns = entry.dims
        n_matrices = int(np.prod(outer, dtype=int))
        if name.endswith(".weight"):
            return self.blocks.codes(n_matrices, rows * columns * entry.bits // 8)
        if name.endswith(".scales"):
            scales, biases = self.blocks.scales(n_matrices * rows, columns, entry.gain, entry.bits)
            self.biases[entry.name] = routing.bias(entry, biases, self.routing, self.blocks.random)
            return [scales.reshape(-1).view(np.uint8).data]
        return [np.ascontiguousarray(self.biases.pop(entry.name)).reshape(-1).view(np.uint8).data]


def config(shape, end_ids):
    quantization = {"group_size": GROUP, "bits": 4, "mode": "affine"}
    for entry in layout(shape):
        if isinstance(entry, MatrixEntry) and entry.bits != 4:
            quantization["language_model." + names.module(entry.name)] = {"group_size": GROUP, "bits": entry.bits}
    return {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "model_type": "qwen3_5_moe",
        "tie_word_embeddings": False,
        "eos_token_id": end_ids,
        "text_config": {**shape.text_config(), "eos_token_id": end_ids[-1]},
        "quantization": quantization,
        "quantization_config": quantization,
    }


def write_checkpoint(folder, shape, arguments):
    entries = [tamed(entry, shape) for entry in layout(shape)]
    tensors = [part for entry in entries for part in tensor_parts(entry)]
    total = sum(output.tensor_bytes(tensor) for tensor in tensors)
    assert (len(tensors), total) == TOTALS.get(shape.name, (len(tensors), total)), (len(tensors), total)
    output.require_space(folder, total)
    contents, progress = Contents(entries, arguments.seed, arguments.routing), output.Progress(total, shape.name)
    shards = output.shards_of(tensors)
    file_names = [f"model-{i:05}-of-{len(shards):05}.safetensors" for i in range(1, len(shards) + 1)]
    for shard, name in zip(shards, file_names):
        output.write_shard(folder / name, shard, contents, progress)
    output.write_index(folder, shards, file_names, sum(int(np.prod(entry.dims)) for entry in entries))
    end_ids = REAL_END_IDS if shape.vocab > REAL_END_IDS[0] else [0]
    if arguments.tokenizer:
        for name in TOKENIZER_FILES:
            if (arguments.tokenizer / name).exists():
                shutil.copy(arguments.tokenizer / name, folder / name)
    else:
        (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": end_ids}) + "\n")
    (folder / "config.json").write_text(json.dumps(config(shape, end_ids), indent=2) + "\n")
    print(f"{len(tensors)} tensors, {total} bytes, {len(shards)} file{'s' if len(shards) > 1 else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=ALL_SHAPES, required=True)
    parser.add_argument("--out", type=Path, help="the directory to write; must not exist")
    parser.add_argument("--routing", choices=["uniform", "zipf"], default="uniform")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokenizer", type=Path, help="a directory with tokenizer.json")
    parser.add_argument("--gguf", type=Path, help="write this file instead of --out")
    parser.add_argument("--gguf-type", choices=gguf_file.TYPES, default="q4_K")
    arguments = parser.parse_args()
    shape = ALL_SHAPES[arguments.shape]
    if bool(arguments.out) == bool(arguments.gguf):
        parser.error("name either --out or --gguf")
    if arguments.tokenizer and not (arguments.tokenizer / "tokenizer.json").is_file():
        parser.error(f"{arguments.tokenizer} has no tokenizer.json")
    if arguments.gguf:
        gguf_file.write(arguments.gguf, shape, arguments.gguf_type, RandomBlocks(arguments.seed))
    else:
        with output.PartialFolder(arguments.out.resolve()) as folder:
            write_checkpoint(folder, shape, arguments)


if __name__ == "__main__":
    main()
