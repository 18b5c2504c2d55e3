"""Compares model.py with transformers in float32 on random parameters (CPU, seconds)."""
import torch
from transformers import Qwen3_5MoeForCausalLM, Qwen3_5MoeTextConfig

import model as M
from export import text_config


def reference(params):
    net = Qwen3_5MoeForCausalLM(Qwen3_5MoeTextConfig(**text_config())).float().eval()
    state = {(n if n.startswith("lm_head") else "model." + n): p.detach() for n, p in params.items()}
    missing, unexpected = net.load_state_dict(state, strict=False)
    assert not missing and not unexpected, (missing, unexpected)
    return net


def main():
    torch.manual_seed(1)
    params = M.init_params(0, "cpu")
    with torch.no_grad():
        for name, p in params.items():  # nothing may stay at a neutral value
            if name.endswith(("norm.weight", "dt_bias", "A_log")):
                p += 0.3 * torch.randn_like(p)
            elif not p.abs().sum():
                p += torch.randn_like(p) / p.shape[-1] ** 0.5
            elif "gate.weight" in name:
                p *= 20
    net = reference(params)
    lengths = (64, 37, 91)
    documents = [torch.randint(0, M.VOCAB, (n,)) for n in lengths]
    pad = -sum(lengths) % M.CHUNK
    tokens = torch.cat(documents + [torch.zeros(pad, dtype=torch.long)])[None]
    position = torch.cat([torch.arange(n) for n in lengths + (pad,)])[None]
    cos, sin = M.rope_tables(256, "cpu")
    with torch.no_grad():
        ours = M.logits(params, M.Blocks(False), tokens, position, cos, sin, None)[0]
        at, worst = 0, 0.0
        for d in documents:
            ref = net(input_ids=d[None]).logits[0]
            worst = max(worst, ((ours[at:at + len(d)] - ref).abs().max() / ref.abs().max()).item())
            at += len(d)
    print(f"max difference / max logit: {worst:.2e}")
    assert worst < 1e-4
    # gradients: the two custom ones against the loop they stand for
    q, k = (torch.randn(2, 128, M.KEY_HEADS, 128, dtype=torch.float32) for _ in range(2))
    k = k / k.norm(dim=-1, keepdim=True)
    v = torch.randn(2, 128, M.VALUE_HEADS, 128)
    g = -torch.rand(2, 128, M.VALUE_HEADS)
    beta = torch.rand(2, 128, M.VALUE_HEADS)
    inputs = [t.requires_grad_() for t in (q, k, v, g, beta)]
    probe = torch.randn(2, 128, M.VALUE_HEADS, 128)
    got = torch.autograd.grad((M.delta_rule(*inputs) * probe).sum(), inputs)
    want = torch.autograd.grad((serial(*inputs) * probe).sum(), inputs)
    for name, x, y in zip("qkvgb", got, want):
        error = ((x - y).norm() / y.norm()).item()
        print(f"gradient of {name}: {error:.1e}")
        assert error < 1e-4


def serial(q, k, v, g, beta):
    q, k = (t.repeat_interleave(2, dim=2) for t in (q, k))
    state, out = torch.zeros(2, M.VALUE_HEADS, 128, 128), []
    for t in range(q.shape[1]):
        state = state * g[:, t].exp()[..., None, None]
        d = beta[:, t][..., None] * (v[:, t] - torch.einsum("bhkv,bhk->bhv", state, k[:, t]))
        state = state + k[:, t][..., None] * d[..., None, :]
        out.append(torch.einsum("bhkv,bhk->bhv", state, q[:, t]))
    return torch.stack(out, 1)


if __name__ == "__main__":
    main()
