"""Writes a trained checkpoint as two directories: Hugging Face bf16, and MLX 4-bit (models/demo).

Owns: config.json contents and the tensor names of both layouts. The 4-bit tensors are made by mlx here; the
project's own `orfebre quantize HF_DIR OUT_DIR` must give the same bytes of every tensor.
"""
import argparse
import glob
import json
import os
import shutil

import torch
from safetensors.torch import save_file

import quant

ENDOFTEXT, IM_END = 4063, 4065


def text_config():
    return dict(
        attention_bias=False, attention_dropout=0.0, attn_output_gate=True, bos_token_id=4063, dtype="bfloat16",
        eos_token_id=4063, full_attention_interval=4, head_dim=256, hidden_act="silu", hidden_size=256,
        initializer_range=0.02, layer_types=["full_attention" if i % 4 == 3 else "linear_attention" for i in range(8)],
        linear_conv_kernel_dim=4, linear_key_head_dim=128, linear_num_key_heads=2, linear_num_value_heads=4,
        linear_value_head_dim=128, mamba_ssm_dtype="float32", max_position_embeddings=8192,
        model_type="qwen3_5_moe_text", moe_intermediate_size=128, num_attention_heads=16, num_experts=16,
        num_experts_per_tok=8, num_hidden_layers=8, num_key_value_heads=2, output_router_logits=False,
        pad_token_id=None, partial_rotary_factor=0.25, rms_norm_eps=1e-6,
        rope_parameters=dict(mrope_interleaved=True, mrope_section=[11, 11, 10], partial_rotary_factor=0.25,
                             rope_theta=10000000, rope_type="default"),
        router_aux_loss_coef=0.001, shared_expert_intermediate_size=128, tie_word_embeddings=False, use_cache=True,
        vocab_size=4096)


def config():
    return dict(architectures=["Qwen3_5MoeForConditionalGeneration"], model_type="qwen3_5_moe", text_config=text_config(), tie_word_embeddings=False,
                transformers_version="4.57.1")


GENERATION = dict(bos_token_id=ENDOFTEXT, do_sample=False, eos_token_id=[IM_END, ENDOFTEXT], pad_token_id=ENDOFTEXT, temperature=1.0, top_k=20, top_p=0.95)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f, indent=2, ensure_ascii=False)
        f.write("\n")


def tokenizer_config(tokenizer_file):
    added = json.load(open(tokenizer_file, encoding="utf-8"))["added_tokens"]
    return dict(add_bos_token=False, add_prefix_space=False,
                added_tokens_decoder={str(t["id"]): {k: t[k] for k in ("content", "lstrip", "normalized", "rstrip", "single_word", "special")} for t in added},
                bos_token=None, clean_up_tokenization_spaces=False, eos_token="<|im_end|>", errors="replace", model_max_length=8192, pad_token="<|endoftext|>",
                split_special_tokens=False, tokenizer_class="Qwen2Tokenizer", unk_token=None)


def side_files(out, tokenizer_file, template):
    write_json(f"{out}/generation_config.json", GENERATION)
    write_json(f"{out}/tokenizer_config.json", tokenizer_config(tokenizer_file))
    for source, name in ((tokenizer_file, "tokenizer.json"), (template, "chat_template.jinja")):
        if os.path.abspath(source) != os.path.abspath(f"{out}/{name}"):
            shutil.copyfile(source, f"{out}/{name}")


def hf_name(name):
    return name if name.startswith("lm_head") else "model.language_model." + name


def mlx_tensors(params):
    """MLX's names and values before quantisation: {name: (tensor, bits or None)}."""
    out = {}
    for name, w in params.items():
        bits = quant.bits_of(name)
        if name.endswith("norm.weight") and "linear_attn" not in name:
            w = (1 + w.float()).bfloat16()
        if name.endswith("conv1d.weight"):
            w = w.transpose(1, 2).contiguous()
        name = "language_model." + (name if name.startswith("lm_head") else "model." + name)
        if name.endswith("experts.gate_up_proj"):
            gate, up = w.chunk(2, dim=1)
            base = name.replace("experts.gate_up_proj", "switch_mlp.")
            out[base + "gate_proj.weight"], out[base + "up_proj.weight"] = (gate.contiguous(), bits), (up.contiguous(), bits)
        elif name.endswith("experts.down_proj"):
            out[name.replace("experts.down_proj", "switch_mlp.down_proj.weight")] = (w, bits)
        else:
            out[name] = (w, bits)
    return out


def write_hf(out, params, tokenizer_file, template):
    os.makedirs(out, exist_ok=True)
    save_file({hf_name(n): w.contiguous() for n, w in sorted(params.items())}, f"{out}/model.safetensors", metadata={"format": "pt"})
    write_json(f"{out}/config.json", config())
    side_files(out, tokenizer_file, template)


def write_mlx(out, params, tokenizer_file, template):
    import mlx.core as mx
    os.makedirs(out, exist_ok=True)
    tensors, overrides = {}, {}
    for name, (w, bits) in sorted(mlx_tensors(params).items()):
        value = mx.array(w.float().numpy()).astype(mx.bfloat16)
        if bits is None:
            tensors[name] = value
            continue
        base = name.removesuffix(".weight")
        if bits != 4:
            overrides[base] = {"group_size": quant.GROUP, "bits": bits}
        tensors[name], tensors[base + ".scales"], tensors[base + ".biases"] = mx.quantize(value, group_size=quant.GROUP, bits=bits)
    mx.save_safetensors(f"{out}/model.safetensors", tensors, metadata={"format": "mlx"})
    quantization = {"group_size": quant.GROUP, "bits": 4, "mode": "affine", **overrides}
    write_json(f"{out}/config.json", {**config(), "quantization": quantization, "quantization_config": quantization})
    side_files(out, tokenizer_file, template)


def load_shards(folder):
    params = {}
    for f in sorted(glob.glob(f"{folder}/shard*.pt")):
        params.update(torch.load(f, map_location="cpu"))
    return params


def average(folders, shares):
    """Weighted mean of checkpoints of one run, bf16."""
    assert len(folders) == len(shares) and abs(sum(shares) - 1) < 1e-9, (folders, shares)
    parts = [load_shards(f) for f in folders]
    return {n: sum(c * p[n].float() for c, p in zip(shares, parts)).bfloat16() for n in parts[0]}


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("shards", nargs="+", help="folders with shard*.pt of train.py; several are averaged")
    p.add_argument("--shares", type=float, nargs="+", default=[1.0], help="share of each folder in the average")
    p.add_argument("--hf", required=True)
    p.add_argument("--mlx", required=True)
    p.add_argument("--tokenizer", required=True)
    p.add_argument("--template", required=True)
    a = p.parse_args()
    params = average(a.shards, a.shares)
    write_hf(a.hf, params, a.tokenizer, a.template)
    write_mlx(a.mlx, params, a.tokenizer, a.template)
    print(sum(w.numel() for w in params.values()), "parameters;", os.path.getsize(f"{a.mlx}/model.safetensors"), "bytes in 4 bits")
