"""Runs mlx-lm's converter on the synthetic demo-shaped checkpoints of tests/checkpoint/synthetic_checkpoint.cpp.

Usage: python make_export_fixture.py TESTS_DATA_CHECKPOINT_DIR
Reads demo_config.json there; writes export_fixture.json, which lists dtype, shape and CRC-32 of every tensor that the
converter makes (for a BF16 and for an F32 source), and demo_config_mlx.json, the config that it writes.

       python make_export_fixture.py --write-source DIR   only writes the BF16 source, to a new directory
       python make_export_fixture.py --list DIR           prints the listing of what mlx-lm loads from an MLX directory
"""

import importlib
import json
import pathlib
import shutil
import sys
import tempfile
import zlib

import mlx.core as mx
import mlx_lm.utils as utils
import numpy as np
from mlx.utils import tree_flatten

converter = importlib.import_module("mlx_lm.convert")  # the package exports a function of this name

LAYERS, HIDDEN, KEY_HEADS, VALUE_HEADS, EXPERTS, WIDTH, VOCAB = 8, 256, 2, 4, 16, 128, 4096


def mix(x):
    """splitmix64's finaliser over an array of uint64."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def values_of(name, shape):
    seed = mix(np.array([zlib.crc32(name.encode())], dtype=np.uint64))
    bits = mix(seed + np.arange(np.prod(shape), dtype=np.uint64)) >> np.uint64(40)
    unit = bits.astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)
    factor, centre = 0.25, 0.0
    if name.endswith("norm.weight"):
        factor, centre = 1.0, 1.0 if name.endswith("linear_attn.norm.weight") else 0.0
    elif name.endswith("A_log"):
        factor, centre = 6.0, -1.0
    return (unit * np.float32(factor) + np.float32(centre)).reshape(shape)


def shapes():
    """Hugging Face names and shapes."""
    model = "model.language_model."
    yield model + "embed_tokens.weight", (VOCAB, HIDDEN)
    yield "lm_head.weight", (VOCAB, HIDDEN)
    yield model + "norm.weight", (HIDDEN,)
    yield "model.visual.pos_embed.weight", (4, 8)
    yield "model.visual.merger.norm.weight", (8,)
    yield "mtp.norm.weight", (HIDDEN,)
    yield "mtp.fc.weight", (HIDDEN, 2 * HIDDEN)
    keys, values = KEY_HEADS * 128, VALUE_HEADS * 128
    for layer in range(LAYERS):
        prefix = f"{model}layers.{layer}."
        yield prefix + "input_layernorm.weight", (HIDDEN,)
        yield prefix + "post_attention_layernorm.weight", (HIDDEN,)
        if layer % 4 == 3:
            yield prefix + "self_attn.q_proj.weight", (8192, HIDDEN)
            yield prefix + "self_attn.k_proj.weight", (512, HIDDEN)
            yield prefix + "self_attn.v_proj.weight", (512, HIDDEN)
            yield prefix + "self_attn.o_proj.weight", (HIDDEN, 4096)
            yield prefix + "self_attn.q_norm.weight", (256,)
            yield prefix + "self_attn.k_norm.weight", (256,)
        else:
            yield prefix + "linear_attn.in_proj_qkv.weight", (2 * keys + values, HIDDEN)
            yield prefix + "linear_attn.in_proj_z.weight", (values, HIDDEN)
            yield prefix + "linear_attn.in_proj_a.weight", (VALUE_HEADS, HIDDEN)
            yield prefix + "linear_attn.in_proj_b.weight", (VALUE_HEADS, HIDDEN)
            yield prefix + "linear_attn.conv1d.weight", (2 * keys + values, 1, 4)
            yield prefix + "linear_attn.A_log", (VALUE_HEADS,)
            yield prefix + "linear_attn.dt_bias", (VALUE_HEADS,)
            yield prefix + "linear_attn.norm.weight", (128,)
            yield prefix + "linear_attn.out_proj.weight", (HIDDEN, values)
        yield prefix + "mlp.gate.weight", (EXPERTS, HIDDEN)
        yield prefix + "mlp.shared_expert_gate.weight", (1, HIDDEN)
        yield prefix + "mlp.shared_expert.gate_proj.weight", (WIDTH, HIDDEN)
        yield prefix + "mlp.shared_expert.up_proj.weight", (WIDTH, HIDDEN)
        yield prefix + "mlp.shared_expert.down_proj.weight", (HIDDEN, WIDTH)
        yield prefix + "mlp.experts.gate_up_proj", (EXPERTS, 2 * WIDTH, HIDDEN)
        yield prefix + "mlp.experts.down_proj", (EXPERTS, HIDDEN, WIDTH)


def write_source(directory, config_path, all_f32):
    tensors = {}
    for name, shape in shapes():
        array = mx.array(values_of(name, shape))
        wide = all_f32 or name.endswith(("A_log", "linear_attn.norm.weight"))
        tensors[name] = array if wide else array.astype(mx.bfloat16)
    mx.save_safetensors(str(directory / "model.safetensors"), tensors)
    shutil.copy(config_path, directory / "config.json")


def convert(source):
    """mlx-lm's own convert(), less the tokenizer: returns the model and the config that it would save."""
    saved = {}
    converter.load = lambda path, **_: (*utils.load_model(pathlib.Path(path), lazy=True)[:1], None, utils.load_config(source))
    converter.save = lambda path, src, model, tokenizer, config: saved.update(model=model, config=config)
    with tempfile.TemporaryDirectory() as parent:
        converter.convert(str(source), f"{parent}/out", quantize=True)
    return saved["model"], saved["config"]


def listing(model):
    result = {}
    for name, array in sorted(tree_flatten(model.parameters())):
        dtype = {mx.bfloat16: "BF16", mx.float32: "F32", mx.uint32: "U32"}[array.dtype]
        raw = np.array(mx.contiguous(array).view(mx.uint8) if array.ndim else array)
        result[name] = f"{dtype} {list(array.shape)} {zlib.crc32(raw.tobytes()):08x}"
    return result


def make_fixture(data):
    fixture = {}
    for kind in ("bf16", "f32"):
        with tempfile.TemporaryDirectory() as directory:
            write_source(pathlib.Path(directory), data / "demo_config.json", kind == "f32")
            model, config = convert(pathlib.Path(directory))
            fixture[kind] = listing(model)
    utils.save_config(config, data / "demo_config_mlx.json")
    (data / "export_fixture.json").write_text(json.dumps(fixture, indent=0) + "\n")
    print({kind: len(entries) for kind, entries in fixture.items()}, "tensors")


def main():
    path = pathlib.Path(sys.argv[-1])
    if sys.argv[1] == "--write-source":
        path.mkdir()
        data = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "checkpoint"
        write_source(path, data / "demo_config.json", all_f32=False)
    elif sys.argv[1] == "--list":
        print(json.dumps(listing(utils.load_model(path)[0])))
    else:
        make_fixture(path)


main()
