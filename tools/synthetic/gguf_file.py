"""A random GGUF file of a shape, as llama.cpp reads it: the right names, sizes and types, no vocabulary, no meaning."""

import os
import struct
from dataclasses import dataclass

import numpy as np

import output

F32 = 0
UINT32, FLOAT32, STRING, ARRAY = 4, 6, 8, 9  # of metadata values; 5 is int32
INT32 = 5
ALIGNMENT = 32


@dataclass(frozen=True)
class BlockType:
    code: int
    values: int  # in a block
    n_bytes: int
    header: bytes  # f16 block scales that give weights a deviation of about 0.02


def _f16(*values):
    return np.array(values, np.float16).tobytes()


TYPES = {"q4_0": BlockType(2, 32, 18, _f16(0.0045)), "q4_K": BlockType(12, 256, 144, _f16(0.00014, 0.00105))}


def _string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def _entry(name, kind, value):
    return _string(name) + struct.pack("<I", kind) + value


def _metadata(shape):
    def number(name, value):
        return _entry("qwen35moe." + name, UINT32, struct.pack("<I", value))

    def real(name, value):
        return _entry("qwen35moe." + name, FLOAT32, struct.pack("<f", value))

    sections = struct.pack("<IQ4i", INT32, 4, 11, 11, 10, 0)
    return [
        _entry("general.architecture", STRING, _string("qwen35moe")),
        _entry("general.name", STRING, _string("synthetic " + shape.name)),
        _entry("tokenizer.ggml.model", STRING, _string("no_vocab")),
        number("vocab_size", shape.vocab),
        number("block_count", shape.layers),
        number("context_length", 262144),
        number("embedding_length", shape.hidden),
        number("feed_forward_length", shape.expert_width),
        number("expert_count", shape.experts),
        number("expert_used_count", shape.top_k),
        number("expert_feed_forward_length", shape.expert_width),
        number("expert_shared_feed_forward_length", shape.expert_width),
        number("full_attention_interval", shape.full_interval),
        number("attention.head_count", shape.query_heads),
        number("attention.head_count_kv", shape.kv_heads),
        number("attention.key_length", shape.head_dim),
        number("attention.value_length", shape.head_dim),
        number("rope.dimension_count", shape.rotary_dim),
        number("ssm.conv_kernel", shape.conv_taps),
        number("ssm.inner_size", shape.value_heads * shape.delta_dim),
        number("ssm.state_size", shape.delta_dim),
        number("ssm.time_step_rank", shape.value_heads),
        number("ssm.group_count", shape.key_heads),
        real("attention.layer_norm_rms_epsilon", shape.norm_eps),
        real("rope.freq_base", shape.rope_theta),
        _entry("qwen35moe.rope.dimension_sections", ARRAY, sections),
    ]


def _layer(shape, layer):
    """(name, dims, deviation or None for 4-bit matrices, mean) of one layer."""
    at, hidden, width, experts = f"blk.{layer}.", shape.hidden, shape.expert_width, shape.experts
    value_width, query_width = shape.value_heads * shape.delta_dim, shape.query_heads * shape.head_dim
    kv_width = shape.kv_heads * shape.head_dim
    yield at + "attn_norm.weight", (hidden,), 0, 1
    yield at + "post_attention_norm.weight", (hidden,), 0, 1
    if shape.is_full(layer):
        yield at + "attn_q.weight", (2 * query_width, hidden), None, 0
        yield at + "attn_k.weight", (kv_width, hidden), None, 0
        yield at + "attn_v.weight", (kv_width, hidden), None, 0
        yield at + "attn_output.weight", (hidden, query_width), None, 0
        yield at + "attn_q_norm.weight", (shape.head_dim,), 0, 1
        yield at + "attn_k_norm.weight", (shape.head_dim,), 0, 1
    else:
        yield at + "attn_qkv.weight", (shape.conv_channels, hidden), None, 0
        yield at + "attn_gate.weight", (value_width, hidden), None, 0
        yield at + "ssm_conv1d.weight", (shape.conv_channels, shape.conv_taps), 0.3, 0
        yield at + "ssm_dt.bias", (shape.value_heads,), 0.5, 0
        yield at + "ssm_a", (shape.value_heads,), 0, -1
        yield at + "ssm_beta.weight", (shape.value_heads, hidden), None, 0
        yield at + "ssm_alpha.weight", (shape.value_heads, hidden), None, 0
        yield at + "ssm_norm.weight", (shape.delta_dim,), 0, 1
        yield at + "ssm_out.weight", (hidden, value_width), None, 0
    yield at + "ffn_gate_inp.weight", (experts, hidden), 0.03, 0
    yield at + "ffn_gate_inp_shexp.weight", (hidden,), 0.03, 0
    for name, dims in (("gate", (width, hidden)), ("up", (width, hidden)), ("down", (hidden, width))):
        yield f"{at}ffn_{name}_exps.weight", (experts, *dims), None, 0
        yield f"{at}ffn_{name}_shexp.weight", dims, None, 0


def _tensors(shape):
    yield "token_embd.weight", (shape.vocab, shape.hidden), None, 0
    yield "output.weight", (shape.vocab, shape.hidden), None, 0
    yield "output_norm.weight", (shape.hidden,), 0, 1
    for layer in range(shape.layers):
        yield from _layer(shape, layer)


def _size(dims, deviation, block):
    n_values = int(np.prod(dims))
    return n_values * 4 if deviation is not None else n_values // block.values * block.n_bytes


def write(path, shape, kind, blocks):
    block, tensors, infos, offset = TYPES[kind], list(_tensors(shape)), [], 0
    for name, dims, deviation, _ in tensors:
        code = F32 if deviation is not None else block.code
        reversed_dims = struct.pack(f"<I{len(dims)}Q", len(dims), *reversed(dims))
        infos.append(_string(name) + reversed_dims + struct.pack("<IQ", code, offset))
        offset += -(-_size(dims, deviation, block) // ALIGNMENT) * ALIGNMENT
    metadata = _metadata(shape)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + b"".join(metadata) + b"".join(infos)
    head += bytes(-len(head) % ALIGNMENT)
    output.require_space(path.resolve().parent, offset)
    partial, progress = path.with_name(path.name + ".partial"), output.Progress(offset, path.name)
    try:
        with open(partial, "xb", buffering=0) as out:
            output.write_all(out, head)
            for name, dims, deviation, mean in tensors:
                size = _size(dims, deviation, block)
                if deviation is None:
                    pieces = blocks.q4(int(np.prod(dims)), block.values, block.n_bytes, block.header)
                else:
                    values = np.float32(mean) + np.float32(deviation) * blocks.random.standard_normal(dims, np.float32)
                    pieces = [values.tobytes()]
                output.write_tensor(out, name, size, pieces, progress)
                padding = bytes(-size % ALIGNMENT)
                output.write_all(out, padding)
                progress.add(len(padding))
        os.rename(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    print(f"{len(tensors)} tensors, {offset} bytes of {kind} and F32")
