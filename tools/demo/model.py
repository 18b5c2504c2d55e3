"""The demo network in PyTorch, written for training speed.

Owns: the parameters (Hugging Face names), the forward pass over packed rows.
Does not own: optimiser, quantisation, checkpoint files.

Semantics are those of transformers' Qwen3_5MoeForCausalLM (checked by check_model.py);
the form differs: every expert is computed for every token as two wide matmuls and the
unselected ones are multiplied by zero, which at 16 experts of 128 is faster than routing;
the delta rule runs in its chunked form with a custom scan over chunks; several documents
share a row and never see each other (attention by cumulative lengths, the recurrent state by a
decay of zero at each first token, the convolution by position).
"""
import math

import torch
import torch.nn.functional as F

HIDDEN, LAYERS, VOCAB = 256, 8, 4096
HEADS, KV_HEADS, HEAD_DIM, ROTARY = 16, 2, 256, 64
KEY_HEADS, VALUE_HEADS, LINEAR_DIM, CONV = 2, 4, 128, 4
EXPERTS, TOP_K, EXPERT_DIM = 16, 8, 128
KEY_DIM, VALUE_DIM = KEY_HEADS * LINEAR_DIM, VALUE_HEADS * LINEAR_DIM
EPS, ROPE_THETA, CHUNK = 1e-6, 1e7, 64
RESET = -60.0  # log decay that empties the state: e^-60 is below what f32 keeps


def is_full(layer):
    return layer % 4 == 3


def shapes():
    """Name -> shape of every parameter, Hugging Face names without the model prefix."""
    out = {"embed_tokens.weight": (VOCAB, HIDDEN), "norm.weight": (HIDDEN,), "lm_head.weight": (VOCAB, HIDDEN)}
    for i in range(LAYERS):
        p = f"layers.{i}."
        out[p + "input_layernorm.weight"] = (HIDDEN,)
        out[p + "post_attention_layernorm.weight"] = (HIDDEN,)
        if is_full(i):
            out[p + "self_attn.q_proj.weight"] = (HEADS * HEAD_DIM * 2, HIDDEN)
            out[p + "self_attn.k_proj.weight"] = (KV_HEADS * HEAD_DIM, HIDDEN)
            out[p + "self_attn.v_proj.weight"] = (KV_HEADS * HEAD_DIM, HIDDEN)
            out[p + "self_attn.o_proj.weight"] = (HIDDEN, HEADS * HEAD_DIM)
            out[p + "self_attn.q_norm.weight"] = (HEAD_DIM,)
            out[p + "self_attn.k_norm.weight"] = (HEAD_DIM,)
        else:
            out[p + "linear_attn.in_proj_qkv.weight"] = (2 * KEY_DIM + VALUE_DIM, HIDDEN)
            out[p + "linear_attn.in_proj_z.weight"] = (VALUE_DIM, HIDDEN)
            out[p + "linear_attn.in_proj_b.weight"] = (VALUE_HEADS, HIDDEN)
            out[p + "linear_attn.in_proj_a.weight"] = (VALUE_HEADS, HIDDEN)
            out[p + "linear_attn.conv1d.weight"] = (2 * KEY_DIM + VALUE_DIM, 1, CONV)
            out[p + "linear_attn.A_log"] = (VALUE_HEADS,)
            out[p + "linear_attn.dt_bias"] = (VALUE_HEADS,)
            out[p + "linear_attn.norm.weight"] = (LINEAR_DIM,)
            out[p + "linear_attn.out_proj.weight"] = (HIDDEN, VALUE_DIM)
        out[p + "mlp.gate.weight"] = (EXPERTS, HIDDEN)
        out[p + "mlp.experts.gate_up_proj"] = (EXPERTS, 2 * EXPERT_DIM, HIDDEN)
        out[p + "mlp.experts.down_proj"] = (EXPERTS, HIDDEN, EXPERT_DIM)
        for n in ("gate", "up"):
            out[p + f"mlp.shared_expert.{n}_proj.weight"] = (EXPERT_DIM, HIDDEN)
        out[p + "mlp.shared_expert.down_proj.weight"] = (HIDDEN, EXPERT_DIM)
        out[p + "mlp.shared_expert_gate.weight"] = (1, HIDDEN)
    return out


def init_params(seed, device):
    """Fresh f32 parameters. Projections that write to the residual start at zero."""
    gen = torch.Generator().manual_seed(seed)
    params = {}
    for name, shape in shapes().items():
        if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight", "down_proj")):
            p = torch.zeros(shape)
        elif name.endswith("linear_attn.norm.weight"):
            p = torch.ones(shape)
        elif name.endswith("norm.weight"):
            p = torch.zeros(shape)
        elif name.endswith("A_log"):
            p = torch.empty(shape).uniform_(1, 8, generator=gen).log_()
        elif name.endswith("dt_bias"):
            dt = torch.exp(torch.empty(shape).uniform_(math.log(0.003), math.log(0.1), generator=gen))
            p = dt + torch.log(-torch.expm1(-dt))
        elif name.endswith("conv1d.weight"):
            p = torch.empty(shape).uniform_(-0.3, 0.3, generator=gen)
            p[..., -1] += 0.5
        elif name == "embed_tokens.weight":
            p = torch.empty(shape).normal_(0, 0.5, generator=gen)
        elif name in ("lm_head.weight",) or name.endswith("mlp.gate.weight"):
            p = torch.empty(shape).normal_(0, 0.02, generator=gen)
        else:
            p = torch.empty(shape).normal_(0, 0.5 / math.sqrt(shape[-1]), generator=gen)
        params[name] = p.to(device).requires_grad_()
    return params


def rms_norm(x, weight):
    """Zero-centred: the stored weight is w and the factor is 1 + w."""
    x = x.float()
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS) * (1 + weight.float())


def rope_tables(length, device):
    """cos and sin, [length, ROTARY / 2] f32. Text positions are equal in all three M-RoPE axes."""
    inv = ROPE_THETA ** (-torch.arange(0, ROTARY, 2, dtype=torch.float64) / ROTARY)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * inv[None]
    return angle.cos().float().to(device), angle.sin().float().to(device)


def apply_rope(x, cos, sin):
    """x [B, T, heads, HEAD_DIM] f32; cos, sin [B, T, 1, ROTARY / 2]."""
    half = ROTARY // 2
    a, b, rest = x[..., :half], x[..., half:ROTARY], x[..., ROTARY:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), dim=-1)


# ---- two custom gradients --------------------------------------------------------------------

def _exact():
    old = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    return old


@torch.library.custom_op("demo::unit_lower_inverse", mutates_args=())
def unit_lower_inverse(lower: torch.Tensor) -> torch.Tensor:
    """(I + lower)^-1 for strictly lower [..., C, C] f32, by doubling the size of inverted diagonal blocks."""
    old = _exact()
    size = lower.shape[-1]
    idx = torch.arange(size, device=lower.device)
    x = torch.eye(size, device=lower.device).expand_as(lower)
    step = 1
    while step < size:
        same_pair = (idx[:, None] // (2 * step)) == (idx[None, :] // (2 * step))
        corner = same_pair & ((idx[:, None] // step) % 2 == 1) & ((idx[None, :] // step) % 2 == 0)
        x = x - x @ (lower * corner) @ x
        step *= 2
    torch.set_float32_matmul_precision(old)
    return x


@unit_lower_inverse.register_fake
def _(lower):
    return torch.empty_like(lower)


def _inverse_backward(ctx, grad):
    (x,) = ctx.saved_tensors
    xt = x.transpose(-1, -2)
    return -(xt @ grad @ xt).tril(-1)


unit_lower_inverse.register_autograd(
    _inverse_backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output))


@torch.library.custom_op("demo::scan_states", mutates_args=())
def scan_states(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """S_0 = 0, S_{c+1} = a_c S_c + b_c. a, b [chunks, N, D, D] f32 -> the states before each chunk."""
    out = torch.empty_like(b)
    out[0] = 0
    for c in range(a.shape[0] - 1):
        torch.baddbmm(b[c], a[c], out[c], out=out[c + 1])
    return out


@scan_states.register_fake
def _(a, b):
    return torch.empty_like(b)


@torch.library.custom_op("demo::scan_states_backward", mutates_args=())
def scan_states_backward(a: torch.Tensor, states: torch.Tensor, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    n = a.shape[0]
    gb = torch.zeros_like(grad)
    running = grad[n - 1]
    for c in range(n - 2, -1, -1):
        gb[c] = running
        if c:
            running = torch.baddbmm(grad[c], a[c].transpose(-1, -2), gb[c])
    return torch.matmul(gb, states.transpose(-1, -2)), gb


@scan_states_backward.register_fake
def _(a, states, grad):
    return torch.empty_like(a), torch.empty_like(grad)


def _scan_setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0], output)


def _scan_backward(ctx, grad):
    a, states = ctx.saved_tensors
    return scan_states_backward(a, states, grad.contiguous())


scan_states.register_autograd(_scan_backward, setup_context=_scan_setup)


# ---- blocks ----------------------------------------------------------------------------------

def delta_rule(q, k, v, log_decay, beta):
    """Chunked gated delta rule. q, k [B, T, KEY_HEADS, 128], v [B, T, VALUE_HEADS, 128],
    log_decay, beta [B, T, VALUE_HEADS]; all f32, T a multiple of CHUNK. Returns [B, T, VALUE_HEADS, 128]."""
    B, T = q.shape[:2]
    n, group = T // CHUNK, VALUE_HEADS // KEY_HEADS

    def chunks(x):  # [B, T, H, D] -> [n, B, H, CHUNK, D]
        return x.view(B, n, CHUNK, x.shape[2], x.shape[3]).permute(1, 0, 3, 2, 4)

    q, k, v = chunks(q), chunks(k), chunks(v)
    beta = beta.view(B, n, CHUNK, VALUE_HEADS).permute(1, 0, 3, 2)
    gamma = log_decay.view(B, n, CHUNK, VALUE_HEADS).permute(1, 0, 3, 2).cumsum(-1)
    keep = torch.ones(CHUNK, CHUNK, dtype=torch.bool, device=q.device).tril()
    decay = torch.exp((gamma[..., :, None] - gamma[..., None, :]).masked_fill(~keep, -torch.inf))
    kk = (k @ k.transpose(-1, -2)).repeat_interleave(group, dim=2)
    qk = (q @ k.transpose(-1, -2)).repeat_interleave(group, dim=2) * decay
    k, q = k.repeat_interleave(group, dim=2), q.repeat_interleave(group, dim=2)
    inverse = unit_lower_inverse((beta[..., None] * kk * decay).tril(-1).contiguous())
    u = inverse @ (beta[..., None] * v)
    w = inverse @ ((beta * gamma.exp())[..., None] * k)
    last = gamma[..., -1:]
    k_out = (k * torch.exp(last - gamma)[..., None]).transpose(-1, -2)
    eye = torch.eye(LINEAR_DIM, device=q.device)
    a = last.exp()[..., None] * eye - k_out @ w
    b = k_out @ u
    flat = (n, B * VALUE_HEADS, LINEAR_DIM, LINEAR_DIM)
    state = scan_states(a.reshape(flat), b.reshape(flat)).view_as(a)
    fresh = u - w @ state
    out = (q * gamma.exp()[..., None]) @ state + qk @ fresh
    return out.permute(1, 0, 3, 2, 4).reshape(B, T, VALUE_HEADS, LINEAR_DIM)


def linear_block(x, position, norm, w_qkv, w_z, w_b, w_a, conv, a_log, dt_bias, out_norm, w_out):
    """x + gated DeltaNet(norm(x)). x [B, T, HIDDEN] f32, position [B, T] inside each document."""
    B, T = x.shape[:2]
    dtype = w_qkv.dtype
    u = rms_norm(x, norm).to(dtype)
    m = F.linear(u, w_qkv)
    z = F.linear(u, w_z).view(B, T, VALUE_HEADS, LINEAR_DIM)
    b, a = F.linear(u, w_b).float(), F.linear(u, w_a).float()
    c = m.float() * conv[:, 0, CONV - 1]
    for back in range(1, CONV):
        past = F.pad(m, (0, 0, back, 0))[:, :T].float()
        c = c + past * conv[:, 0, CONV - 1 - back] * (position >= back)[..., None]
    c = F.silu(c)
    q, k, v = c.split((KEY_DIM, KEY_DIM, VALUE_DIM), dim=-1)
    q, k = (t.view(B, T, KEY_HEADS, LINEAR_DIM) for t in (q, k))
    q = q * torch.rsqrt(q.square().sum(-1, keepdim=True) + EPS) / math.sqrt(LINEAR_DIM)
    k = k * torch.rsqrt(k.square().sum(-1, keepdim=True) + EPS)
    log_decay = -a_log.float().exp() * F.softplus(a + dt_bias.float())
    log_decay = torch.where((position == 0)[..., None], RESET, log_decay)
    o = delta_rule(q, k, v.view(B, T, VALUE_HEADS, LINEAR_DIM), log_decay, torch.sigmoid(b))
    o = o * torch.rsqrt(o.square().mean(-1, keepdim=True) + EPS) * out_norm.float() * F.silu(z.float())
    return x + F.linear(o.reshape(B, T, VALUE_DIM).to(dtype), w_out)


def attention(q, k, v, position, cu_lengths):
    """Causal attention inside each document. q [B, T, HEADS, D], k, v [B, T, KV_HEADS, D]."""
    B, T = q.shape[:2]
    if q.is_cuda:
        flat = [t.reshape(B * T, t.shape[2], HEAD_DIM) for t in (q, k, v)]
        out = torch.ops.aten._flash_attention_forward(*flat, cu_lengths, cu_lengths, T, T, 0.0, True, False,
                                                      scale=1 / math.sqrt(HEAD_DIM))[0]
        return out.view(B, T, HEADS, HEAD_DIM)
    document = (position == 0).cumsum(-1)
    mask = (document[:, :, None] == document[:, None, :]) & torch.ones(T, T, dtype=torch.bool, device=q.device).tril()
    k, v = (t.repeat_interleave(HEADS // KV_HEADS, dim=2).transpose(1, 2) for t in (k, v))
    out = F.scaled_dot_product_attention(q.transpose(1, 2), k, v, attn_mask=mask[:, None])
    return out.transpose(1, 2)


def attention_inputs(x, position, cos, sin, norm, w_q, w_k, w_v, q_norm, k_norm):
    """Normed and rotated q [B, T, HEADS, D], k, v [B, T, KV_HEADS, D] and the output gate [B, T, HEADS, D]."""
    B, T = x.shape[:2]
    dtype = w_q.dtype
    u = rms_norm(x, norm).to(dtype)
    q, gate = F.linear(u, w_q).view(B, T, HEADS, 2 * HEAD_DIM).chunk(2, dim=-1)
    k = F.linear(u, w_k).view(B, T, KV_HEADS, HEAD_DIM)
    v = F.linear(u, w_v).view(B, T, KV_HEADS, HEAD_DIM)
    cos, sin = cos[position][:, :, None], sin[position][:, :, None]
    q = apply_rope(rms_norm(q, q_norm), cos, sin).to(dtype)
    k = apply_rope(rms_norm(k, k_norm), cos, sin).to(dtype)
    return q, k, v, torch.sigmoid(gate.float())


def attention_output(x, o, gate, w_o):
    B, T = x.shape[:2]
    return x + F.linear((o.float() * gate).to(w_o.dtype).reshape(B, T, HEADS * HEAD_DIM), w_o)


def moe_block(x, norm, w_gate, gate_up, down, s_gate, s_up, s_down, s_w):
    """x + mixture of experts(norm(x)), and the load-balance term (1 when even)."""
    B, T = x.shape[:2]
    dtype = gate_up.dtype
    u32 = rms_norm(x, norm)
    u = u32.to(dtype)
    probs = F.linear(u32, w_gate.float()).softmax(-1)
    index = torch.arange(EXPERTS, device=x.device)
    ahead = (probs[..., None, :] > probs[..., :, None]) | (
        (probs[..., None, :] == probs[..., :, None]) & (index[None, :] < index[:, None]))
    chosen = (ahead.sum(-1) < TOP_K).float()
    weight = probs * chosen
    weight = weight / weight.sum(-1, keepdim=True)
    g, h = F.linear(u, gate_up.reshape(-1, HIDDEN)).view(B, T, EXPERTS, 2, EXPERT_DIM).unbind(3)
    act = F.silu(g.float()) * h.float() * weight[..., None]
    y = F.linear(act.to(dtype).reshape(B, T, -1), down.permute(1, 0, 2).reshape(HIDDEN, -1))
    shared = F.linear((F.silu(F.linear(u, s_gate).float()) * F.linear(u, s_up).float()).to(dtype), s_down)
    y = y + torch.sigmoid(F.linear(u32, s_w.float())) * shared
    balance = (chosen.mean((0, 1)) * probs.mean((0, 1))).sum() * EXPERTS / TOP_K
    return x + y, balance


class Blocks:
    """The block functions, compiled or not. Same shapes in every layer, so each compiles once."""

    def __init__(self, compiled):
        wrap = (lambda f: torch.compile(f, dynamic=False)) if compiled else (lambda f: f)
        self.linear, self.moe, self.head = map(wrap, (linear_block, moe_block, head_loss))
        self.attention_inputs, self.attention_output = map(wrap, (attention_inputs, attention_output))

    def full(self, x, position, cos, sin, cu_lengths, norm, w_q, w_k, w_v, w_o, q_norm, k_norm):
        """x + gated attention(norm(x))."""
        q, k, v, gate = self.attention_inputs(x, position, cos, sin, norm, w_q, w_k, w_v, q_norm, k_norm)
        return self.attention_output(x, attention(q, k, v, position, cu_lengths), gate, w_o)


def hidden_states(P, blocks, tokens, position, cos, sin, cu_lengths):
    """Residual stream after the last layer [B, T, HIDDEN] f32 and the mean balance term."""
    x = F.embedding(tokens, P["embed_tokens.weight"]).float()
    total = 0.0
    for i in range(LAYERS):
        g = lambda n: P[f"layers.{i}.{n}"]
        if is_full(i):
            x = blocks.full(x, position, cos, sin, cu_lengths, g("input_layernorm.weight"),
                            *(g(f"self_attn.{n}_proj.weight") for n in "qkvo"),
                            g("self_attn.q_norm.weight"), g("self_attn.k_norm.weight"))
        else:
            x = blocks.linear(x, position, g("input_layernorm.weight"),
                              *(g(f"linear_attn.in_proj_{n}.weight") for n in ("qkv", "z", "b", "a")),
                              g("linear_attn.conv1d.weight"), g("linear_attn.A_log"), g("linear_attn.dt_bias"),
                              g("linear_attn.norm.weight"), g("linear_attn.out_proj.weight"))
        x, balance = blocks.moe(x, g("post_attention_layernorm.weight"), g("mlp.gate.weight"),
                                g("mlp.experts.gate_up_proj"), g("mlp.experts.down_proj"),
                                *(g(f"mlp.shared_expert.{n}_proj.weight") for n in ("gate", "up", "down")),
                                g("mlp.shared_expert_gate.weight"))
        total = total + balance
    return x, total / LAYERS


def head_loss(x, norm, w_head, targets, weights):
    """Weighted cross entropy; also whether each argmax is the target. x [B, T, HIDDEN]."""
    logits = F.linear(rms_norm(x, norm).to(w_head.dtype), w_head).float().view(-1, VOCAB)
    loss = F.cross_entropy(logits, targets.view(-1), reduction="none")
    weights = weights.view(-1)
    right = (logits.argmax(-1) == targets.view(-1)).view(targets.shape)
    return (loss * weights).sum() / weights.sum().clamp(min=1), right


def logits(P, blocks, tokens, position, cos, sin, cu_lengths):
    x, _ = hidden_states(P, blocks, tokens, position, cos, sin, cu_lengths)
    return F.linear(rms_norm(x, P["norm.weight"]).to(P["lm_head.weight"].dtype), P["lm_head.weight"]).float()
