"""A checkpoint of the real model's full size without its weights: the right headers over a sparse file."""

import json
import shutil
import struct
from pathlib import Path

HIDDEN, VOCAB, LAYERS, EXPERTS, WIDTH = 2048, 248320, 40, 256, 512


class Header:
    def __init__(self):
        self.tensors = {}
        self.offset = 0

    def add(self, name: str, dtype: str, *shape: int):
        size = {"U32": 4, "BF16": 2}[dtype]
        for n in shape:
            size *= n
        self.tensors[name] = {"dtype": dtype, "shape": list(shape),
                              "data_offsets": [self.offset, self.offset + size]}
        self.offset += size

    def add_affine(self, module: str, *shape: int, bits: int = 4):
        *outer, n_in = shape
        self.add(f"{module}.weight", "U32", *outer, n_in * bits // 32)
        self.add(f"{module}.scales", "BF16", *outer, n_in // 64)
        self.add(f"{module}.biases", "BF16", *outer, n_in // 64)


def add_layer(header: Header, layer: int):
    at = f"language_model.model.layers.{layer}."
    header.add(at + "input_layernorm.weight", "BF16", HIDDEN)
    header.add(at + "post_attention_layernorm.weight", "BF16", HIDDEN)
    if layer % 4 == 3:
        for name, rows in (("q", 8192), ("k", 512), ("v", 512)):
            header.add_affine(f"{at}self_attn.{name}_proj", rows, HIDDEN)
        header.add_affine(at + "self_attn.o_proj", HIDDEN, 4096)
        header.add(at + "self_attn.q_norm.weight", "BF16", 256)
        header.add(at + "self_attn.k_norm.weight", "BF16", 256)
    else:
        for name, rows in (("qkv", 8192), ("z", 4096), ("a", 32), ("b", 32)):
            header.add_affine(f"{at}linear_attn.in_proj_{name}", rows, HIDDEN)
        header.add_affine(at + "linear_attn.out_proj", HIDDEN, 4096)
        header.add(at + "linear_attn.conv1d.weight", "BF16", 8192, 4, 1)
        header.add(at + "linear_attn.A_log", "BF16", 32)
        header.add(at + "linear_attn.dt_bias", "BF16", 32)
        header.add(at + "linear_attn.norm.weight", "BF16", 128)
    header.add_affine(at + "mlp.gate", EXPERTS, HIDDEN, bits=8)
    header.add_affine(at + "mlp.shared_expert_gate", 1, HIDDEN, bits=8)
    for name, rows, columns in (("gate", WIDTH, HIDDEN), ("up", WIDTH, HIDDEN), ("down", HIDDEN, WIDTH)):
        header.add_affine(f"{at}mlp.shared_expert.{name}_proj", rows, columns)
        header.add_affine(f"{at}mlp.switch_mlp.{name}_proj", EXPERTS, rows, columns)


def make_full_size_model(folder: Path, config: Path):
    folder.mkdir()
    shutil.copy(config, folder / "config.json")
    header = Header()
    header.add_affine("language_model.model.embed_tokens", VOCAB, HIDDEN)
    header.add_affine("language_model.lm_head", VOCAB, HIDDEN)
    header.add("language_model.model.norm.weight", "BF16", HIDDEN)
    for layer in range(LAYERS):
        add_layer(header, layer)
    text = json.dumps(header.tensors).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + header.offset)  # a hole: no disk is used
