"""MLX's affine quantisation in PyTorch: groups of 64 along the input dimension, 4 bits (8 for routers).

Used as fake quantisation in the last part of training (straight-through gradient). The exported file is made by the
exporter, not by this code."""
import torch

GROUP = 64


def bits_of(name):
    """None for tensors that stay bf16."""
    if name.endswith(("norm.weight", "layernorm.weight", "conv1d.weight", "A_log", "dt_bias")):
        return None
    return 8 if name.endswith(("mlp.gate.weight", "mlp.shared_expert_gate.weight")) else 4


def affine_parts(w, bits):
    """q, scale, bias of groups [.., 64] f32: scale * q + bias, the edge of larger magnitude exact."""
    top = 2 ** bits - 1
    low, high = w.amin(-1, keepdim=True), w.amax(-1, keepdim=True)
    from_low = low.abs() > high.abs()
    scale = ((high - low) / top).clamp(min=1e-7)
    scale = torch.where(from_low, scale, -scale)
    edge = torch.where(from_low, low, high)
    q0 = torch.round(edge / scale)
    scale = torch.where(q0 != 0, edge / q0, scale)
    bias = torch.where(q0 != 0, edge, 0.0)
    q = torch.round((w - bias) / scale).clamp(0, top)
    return q, scale, bias


def quantised(w, bits):
    """What a loader gets back from the file: w f32 -> f32."""
    w = w.bfloat16().float()
    if bits is None:
        return w
    g = w.reshape(-1, GROUP)
    q, scale, bias = affine_parts(g, bits)
    return (q * scale.bfloat16().float() + bias.bfloat16().float()).view_as(w)


def stored(name, w):
    """Weight `name` as it comes out of the 4-bit file. Zero-centred norms are stored as bf16(1 + w)."""
    if name.endswith("norm.weight") and "linear_attn" not in name:
        return (1 + w.bfloat16().float()).bfloat16().float() - 1
    return quantised(w, bits_of(name))


def fake(params):
    """{name: stored(w)} forward, identity backward. Widths are handled together: few, large operations."""
    out = {}
    for bits in (None, 4, 8):
        names = [n for n in params if bits_of(n) == bits]
        if bits is None:
            values = [stored(n, params[n].detach()) for n in names]
        else:
            flat = quantised(torch.cat([params[n].detach().reshape(-1, GROUP) for n in names]), bits)
            values = [v.view_as(params[n]) for n, v in zip(names, flat.split([params[n].numel() // GROUP for n in names]))]
        for n, v in zip(names, values):
            out[n] = params[n] + (v - params[n].detach())
    return out
