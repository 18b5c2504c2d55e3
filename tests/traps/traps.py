"""Mistakes that engines for this model have made or could make, as one change each to a source of the reference.

A trap: a name, the file under src/backend/reference, the text to find (exactly once), the text to put there, and the
case of trap_driver.cpp that must notice: `short` (3 tokens), `chunks` (65 tokens in uneven chunks), `long` (200).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Trap:
    name: str
    file: str
    find: str
    replace: str
    case: str = "short"


GDN = "gdn_mix.cpp"
DELTA_DECAY = """  for (int i = 0; i < kHeadDim * kHeadDim; ++i) {
    state[i] *= decay;
  }
"""
DELTA_READ = """  float recalled[kHeadDim];
  read_state(recalled, state, k);
"""
DELTA_WRITE = """  for (int i = 0; i < kHeadDim; ++i) {
    for (int j = 0; j < kHeadDim; ++j) {
      state[i * kHeadDim + j] += k[i] * delta[j];
    }
  }
"""
Q_NORM = "l2_norm(q, c + key_head * kHeadDim, query_scale, l2_epsilon)"
K_NORM = "l2_norm(k, c + shape.key_width() + key_head * kHeadDim, 1.0f, l2_epsilon)"
GATED_NORM = """    rms_norm(mixed, o, op.norm, kHeadDim);
    for (int i = 0; i < kHeadDim; ++i) {
      mixed[i] *= silu(z[i]);
    }
"""
STATE_OUT = "std::copy(state.begin(), state.end(), s.delta_state_out + head * kHeadDim * kHeadDim);"

DELTA_NET = [
    Trap(
        "l2 epsilon on the mean",
        GDN,
        "dot(x, x, kHeadDim) + epsilon",
        "dot(x, x, kHeadDim) + kHeadDim * epsilon",
    ),
    Trap(
        "q and k normed by the mean",
        GDN,
        "dot(x, x, kHeadDim) + epsilon",
        "dot(x, x, kHeadDim) / kHeadDim + epsilon",
    ),
    Trap("q scaled twice", GDN, Q_NORM, Q_NORM.replace("query_scale", "query_scale * query_scale")),
    Trap("q not scaled", GDN, Q_NORM, Q_NORM.replace("query_scale", "1.0f")),
    Trap("k scaled", GDN, K_NORM, K_NORM.replace("1.0f", "query_scale")),
    Trap(
        "q not normed",
        GDN,
        Q_NORM + ";",
        "for (int i = 0; i < kHeadDim; ++i) { q[i] = c[key_head * kHeadDim + i] * query_scale; }",
    ),
    Trap(
        "q and k swapped",
        GDN,
        "l2_norm(q, c + key_head * kHeadDim,",
        "l2_norm(q, c + shape.key_width() + key_head * kHeadDim,",
    ),
    Trap("no decay", GDN, DELTA_DECAY, ""),
    Trap("decay after the read", GDN, DELTA_DECAY + DELTA_READ, DELTA_READ + DELTA_DECAY),
    Trap(
        "decay after the write",
        GDN,
        "  read_state(out, state, q);\n}",
        DELTA_DECAY.replace("decay", "decay / std::sqrt(decay)") + "  read_state(out, state, q);\n}",
    ),
    Trap(
        "output read before the write",
        GDN,
        DELTA_WRITE + "  read_state(out, state, q);\n",
        "  read_state(out, state, q);\n" + DELTA_WRITE,
    ),
    Trap("plain linear attention: nothing is recalled", GDN, "beta * (v[j] - recalled[j])", "beta * v[j]"),
    Trap("no beta", GDN, "beta * (v[j] - recalled[j])", "v[j] - recalled[j]"),
    Trap(
        "beta without sigmoid",
        GDN,
        "sigmoid(s.b[t * shape.value_heads + head])",
        "s.b[t * shape.value_heads + head]",
    ),
    Trap("A_log without exp", GDN, "-std::exp(op.a_log[head])", "-std::fabs(op.a_log[head])"),
    Trap("no softplus", GDN, "softplus(a + op.dt_bias[head])", "std::fabs(a + op.dt_bias[head])"),
    Trap("no dt_bias", GDN, "softplus(a + op.dt_bias[head])", "softplus(a)"),
    Trap("log decay used as decay", GDN, "v, std::exp(log_decay), beta)", "v, -log_decay, beta)"),
    Trap(
        "value head h uses key head h mod key_heads",
        GDN,
        "head / (shape.value_heads / shape.key_heads)",
        "head % shape.key_heads",
    ),
    Trap(
        "v taken from the place of q",
        GDN,
        "c + 2 * shape.key_width() + head * kHeadDim",
        "c + head * kHeadDim",
    ),
    Trap(
        "gate before norm",
        GDN,
        GATED_NORM,
        "    for (int i = 0; i < kHeadDim; ++i) { o[i] *= silu(z[i]); }\n    rms_norm(mixed, o, op.norm,"
        " kHeadDim);\n",
    ),
    Trap("z gate is a sigmoid", GDN, "mixed[i] *= silu(z[i])", "mixed[i] *= sigmoid(z[i])"),
    Trap("no z gate", GDN, "mixed[i] *= silu(z[i])", "mixed[i] *= z[i] < -1e30f ? 0.0f : 1.0f"),
    Trap(
        "gated norm taken as zero-centred",
        GDN,
        "mixed[i] *= silu(z[i])",
        "mixed[i] *= silu(z[i]) * (1.0f + op.norm[i]) / op.norm[i]",
    ),
    Trap("no gated norm", GDN, "rms_norm(mixed, o, op.norm, kHeadDim)", "std::copy_n(o, kHeadDim, mixed)"),
    Trap(
        "convolution without SiLU",
        GDN,
        "static_cast<size_t>(t * channels + c)] = silu(sum)",
        "static_cast<size_t>(t * channels + c)] = sum",
    ),
    Trap("convolution taps reversed", GDN, "weight[c * kTaps + tap]", "weight[c * kTaps + kTaps - 1 - tap]"),
    Trap("convolution taps by row", GDN, "weight[c * kTaps + tap]", "weight[tap * channels + c]"),
    Trap(
        "convolution without its oldest tap",
        GDN,
        "int tap = 0; tap < kTaps",
        "int tap = 1; tap < kTaps",
        "chunks",
    ),
    Trap(
        "convolution state after SiLU",
        GDN,
        "std::copy_n(rows.data() + s.accepted_rows * channels, kHistory * channels, s.conv_state_out)",
        "for (int j = 0; j < kHistory * channels; ++j) { s.conv_state_out[j] ="
        " silu(rows[static_cast<size_t>(s.accepted_rows * channels + j)]); }",
        "chunks",
    ),
    Trap(
        "convolution history dropped at a chunk border",
        GDN,
        "if (s.conv_state_in != nullptr) {",
        "if (s.conv_state_in != nullptr && s.n_rows < kHistory) {",
        "chunks",
    ),
    Trap(
        "convolution state one row stale",
        GDN,
        "rows.data() + s.accepted_rows * channels, kHistory",
        "rows.data() + (s.accepted_rows - 1) * channels, kHistory",
        "chunks",
    ),
    Trap(
        "delta state dropped at a chunk border",
        GDN,
        "if (s.delta_state_in != nullptr) {",
        "if (s.delta_state_in != nullptr && s.n_rows == 1) {",
        "chunks",
    ),
    Trap(
        "delta state stored transposed",
        GDN,
        STATE_OUT,
        "for (int i = 0; i < kHeadDim * kHeadDim; ++i) { s.delta_state_out[head * kHeadDim * kHeadDim + i] ="
        " state[static_cast<size_t>(i % kHeadDim * kHeadDim + i / kHeadDim)]; }",
        "chunks",
    ),
    Trap(
        "delta state kept before the chunk's last token",
        GDN,
        "if (t + 1 == s.accepted_rows) {",
        "if (t + 1 == std::max(1, s.accepted_rows - 1)) {",
        "chunks",
    ),
    Trap(
        "delta state in bf16",
        GDN,
        "state[i * kHeadDim + j] += k[i] * delta[j];",
        "state[i * kHeadDim + j] = to_f32(to_bf16(state[i * kHeadDim + j] + k[i] * delta[j]));",
        "long",
    ),
    Trap("a and b swapped", "gdn_project.cpp", "linear(op.a_out, op.a,", "linear(op.a_out, op.b,"),
    Trap(
        "DeltaNet without its input norm",
        "gdn_project.cpp",
        "linear(op.qkv_out, op.qkv, u.data(), n_rows)",
        "linear(op.qkv_out, op.qkv, op.residual, n_rows)",
    ),
]

HEADS = "q_gate.data() + (r * shape.query_heads + head) * 2 * kHeadDim;"
ATTENTION = [
    Trap(
        "query and gate halves of the whole projection",
        "attn_project.cpp",
        HEADS
        + "\n      const int target = (r * shape.query_heads + head) * kHeadDim;\n     "
        " norm_and_rotate(op.q_out + target, source, op.q_norm, rope);\n      std::copy_n(source +"
        " kHeadDim,",
        "q_gate.data() + r * 2 * shape.query_width() + head * kHeadDim;\n      const int target = (r *"
        " shape.query_heads + head) * kHeadDim;\n      norm_and_rotate(op.q_out + target, source, op.q_norm,"
        " rope);\n      std::copy_n(source + shape.query_width(),",
    ),
    Trap(
        "gate before query inside a head",
        "attn_project.cpp",
        "norm_and_rotate(op.q_out + target, source, op.q_norm, rope);\n      std::copy_n(source + kHeadDim,",
        "norm_and_rotate(op.q_out + target, source + kHeadDim, op.q_norm, rope);\n      std::copy_n(source,",
    ),
    Trap(
        "rotary pairs adjacent",
        "attn_project.cpp",
        "    const float first = head[i];\n    const float second = head[i + kHalf];\n    head[i] = first *"
        " cosine - second * sine;\n    head[i + kHalf] =",
        "    const float first = head[2 * i];\n    const float second = head[2 * i + 1];\n    head[2 * i] ="
        " first * cosine - second * sine;\n    head[2 * i + 1] =",
    ),
    Trap(
        "rotary embedding on all 256 dimensions",
        "attn_project.cpp",
        "void rotate(float* head, const float* rope) {",
        "void rotate(float* head, const float* rope) {\n  for (int i = kHalf * 2; i < kHeadDim; i += kHalf *"
        " 2) {\n    for (int j = 0; j < kHalf; ++j) {\n      const float x = head[i + j];\n      const float"
        " y = head[i + j + kHalf];\n      head[i + j] = x * rope[j] - y * rope[kHalf + j];\n      head[i + j"
        " + kHalf] = y * rope[j] + x * rope[kHalf + j];\n    }\n  }",
    ),
    Trap(
        "rotary embedding backwards on k",
        "attn_project.cpp",
        "norm_and_rotate(cache + cached.k + head * kHeadDim, k.data() + source, op.k_norm, rope);",
        "std::vector<float> back(rope, rope + 2 * kHalf);\n      for (int i = kHalf; i < 2 * kHalf; ++i) {"
        " back[static_cast<size_t>(i)] = -rope[i]; }\n      norm_and_rotate(cache + cached.k + head *"
        " kHeadDim, k.data() + source, op.k_norm, back.data());",
    ),
    Trap(
        "no rotary embedding",
        "attn_project.cpp",
        "  rotate(out, rope);\n",
        "  if (rope == nullptr) { rotate(out, rope); }\n",
    ),
    Trap(
        "norm after the rotary embedding",
        "attn_project.cpp",
        "  rms_norm(out, head, weight, kHeadDim);\n  rotate(out, rope);\n",
        "  std::copy_n(head, kHeadDim, out);\n  rotate(out, rope);\n  rms_norm(out, out, weight,"
        " kHeadDim);\n",
    ),
    Trap(
        "k normed with q's weights",
        "attn_project.cpp",
        "k.data() + source, op.k_norm, rope",
        "k.data() + source, op.q_norm, rope",
    ),
    Trap(
        "q and k not normed",
        "attn_project.cpp",
        "  rms_norm(out, head, weight, kHeadDim);\n",
        "  std::copy_n(head, weight == nullptr ? 0 : kHeadDim, out);\n",
    ),
    Trap(
        "KV head stride of half a head in the cache",
        "attn_project.cpp",
        "std::copy_n(v.data() + source, kHeadDim, cache + cached.v + head * kHeadDim)",
        "std::copy_n(v.data() + source, kHeadDim, cache + cached.v + head * kHeadDim / 2)",
    ),
    Trap(
        "v rows one KV head wide",
        "attn_project.cpp",
        "std::copy_n(v.data() + source,",
        "std::copy_n(v.data() + r * kHeadDim,",
    ),
    Trap(
        "query head h reads KV head h mod 2",
        "attn_mix.cpp",
        "cache, head / heads_per_kv_head)",
        "cache, head % (shape.query_heads / heads_per_kv_head))",
    ),
    Trap(
        "one KV head for all query heads",
        "attn_mix.cpp",
        "cache, head / heads_per_kv_head)",
        "cache, head / heads_per_kv_head / 2)",
    ),
    Trap(
        "scores not scaled",
        "attn_mix.cpp",
        "dot(q, k, kHeadDim) * scale",
        "dot(q, k, kHeadDim) * (scale > 1.0f ? scale : 1.0f)",
    ),
    Trap(
        "scores scaled by 1/sqrt(64)",
        "attn_mix.cpp",
        "1.0f / std::sqrt(static_cast<float>(kHeadDim))",
        "0.125f",
    ),
    Trap(
        "a row does not see itself",
        "attn_mix.cpp",
        "const int n_positions = row.position + 1;",
        "const int n_positions = std::max(1, row.position);",
    ),
    Trap(
        "probabilities not normalised",
        "attn_mix.cpp",
        "weights[static_cast<size_t>(p)] / total",
        "weights[static_cast<size_t>(p)] / (total > 0.0f ? 1.0f : total)",
    ),
    Trap(
        "no output gate",
        "attn_mix.cpp",
        "out[i] *= sigmoid(op.gate[at + i])",
        "out[i] *= op.gate[at + i] < -1e30f ? 0.0f : 1.0f",
    ),
    Trap(
        "output gate is SiLU",
        "attn_mix.cpp",
        "out[i] *= sigmoid(op.gate[at + i])",
        "out[i] *= silu(op.gate[at + i])",
    ),
    Trap(
        "k of the first block for every block",
        "attn_mix.cpp",
        "kv_row(step, sequence, p).k",
        "kv_row(step, sequence, p % kBlockTokens).k",
        "chunks",
    ),
    Trap(
        "v of the first block for every block",
        "attn_mix.cpp",
        "kv_row(step, sequence, p).v",
        "kv_row(step, sequence, p % kBlockTokens).v",
        "long",
    ),
    Trap("rotary theta 10,000", "embed.cpp", "std::pow(CommonShape::kRopeTheta,", "std::pow(1e4,"),
    Trap(
        "rotary frequencies over 256 dimensions",
        "embed.cpp",
        "-2.0 * i / rotary_dims)",
        "-2.0 * i / CommonShape::kHeadDim)",
    ),
    Trap(
        "position counted inside the chunk",
        "embed.cpp",
        "rotary_row(op.rope + r * shape.rotary_dims, row.position,",
        "rotary_row(op.rope + r * shape.rotary_dims, r,",
        "chunks",
    ),
    Trap(
        "position off by one in single-row steps",
        "embed.cpp",
        "rotary_row(op.rope + r * shape.rotary_dims, row.position,",
        "rotary_row(op.rope + r * shape.rotary_dims, row.position + (op.step->n_rows == 1 ? 1 : 0),",
        "chunks",
    ),
    Trap(
        "embedding scaled",
        "embed.cpp",
        "    rotary_row(op.rope",
        "    for (int i = 0; i < shape.hidden; ++i) { op.residual[r * shape.hidden + i] *="
        " std::sqrt(static_cast<float>(shape.hidden)); }\n    rotary_row(op.rope",
    ),
]

RENORMALISE = "op.expert_weights[r * n_active + slot] /= total;"
EXPERTS = [
    Trap(
        "expert weights not renormalised",
        "route.cpp",
        RENORMALISE,
        "op.expert_weights[r * n_active + slot] /= total > 2.0f ? total : 1.0f;",
    ),
    Trap(
        "7 experts",
        "route.cpp",
        "    float shared_logit = 0.0f;",
        "    op.expert_weights[r * n_active + n_active - 1] = 0.0f;\n    float shared_logit = 0.0f;",
    ),
    Trap(
        "7 experts, renormalised",
        "route.cpp",
        "      total += probabilities[static_cast<size_t>(expert)];",
        "      if (slot == n_active - 1) { op.expert_weights[r * n_active + slot] = 0.0f; }\n      total +="
        " op.expert_weights[r * n_active + slot];",
    ),
    Trap(
        "experts weighted equally",
        "route.cpp",
        RENORMALISE,
        "op.expert_weights[r * n_active + slot] = total > 0.0f ? 0.125f : total;",
    ),
    Trap(
        "experts scored by sigmoid",
        "route.cpp",
        "    value = std::exp(value - largest);\n",
        "    value = largest > 1e30f ? 0.0f : sigmoid(value);\n",
    ),
    Trap(
        "router on the residual, not normed",
        "route.cpp",
        "linear(probabilities.data(), op.router, u, 1)",
        "linear(probabilities.data(), op.router, op.residual + r * shape.hidden, 1)",
    ),
    Trap(
        "no shared gate",
        "route.cpp",
        "op.shared_weight[r] = sigmoid(shared_logit)",
        "op.shared_weight[r] = shared_logit < -1e30f ? 0.0f : 1.0f",
    ),
    Trap(
        "shared gate without sigmoid",
        "route.cpp",
        "op.shared_weight[r] = sigmoid(shared_logit)",
        "op.shared_weight[r] = shared_logit",
    ),
    Trap(
        "gate and up swapped",
        "experts_up.cpp",
        "silu(out[i][j]) * up_rows[i][j]",
        "out[i][j] * silu(up_rows[i][j])",
    ),
    Trap(
        "experts gated by sigmoid",
        "experts_up.cpp",
        "silu(out[i][j]) * up_rows[i][j]",
        "sigmoid(out[i][j]) * up_rows[i][j]",
    ),
    Trap(
        "experts without activation",
        "experts_up.cpp",
        "silu(out[i][j]) * up_rows[i][j]",
        "out[i][j] * up_rows[i][j]",
    ),
    Trap(
        "expert up taken from the next expert",
        "experts_up.cpp",
        "linear(up_rows, up, which, in)",
        "linear(up_rows, up, (which + 1) % up.n_matrices, in)",
    ),
    Trap(
        "no shared expert",
        "experts_down.cpp",
        "sum + op.shared_weight[r] * product[n_active * shape.hidden + i]",
        "sum",
    ),
    Trap(
        "expert weights in another order than experts",
        "experts_down.cpp",
        "op.expert_weights[r * n_active + slot] * product",
        "op.expert_weights[r * n_active + n_active - 1 - slot] * product",
    ),
    Trap(
        "experts replace the residual",
        "experts_down.cpp",
        "op.residual[r * shape.hidden + i] += sum",
        "op.residual[r * shape.hidden + i] = sum",
    ),
]

NORM = "out[i] = x[i] * scale * weight[i];"
COMMON = [
    Trap("norm with one more +1", "arithmetic.cpp", NORM, "out[i] = x[i] * scale * (1.0f + weight[i]);"),
    Trap(
        "norm without its weight", "arithmetic.cpp", NORM, "out[i] = weight[i] > 1e30f ? 0.0f : x[i] * scale;"
    ),
    Trap(
        "norm by the sum of squares", "arithmetic.cpp", "dot(x, x, n) / static_cast<float>(n)", "dot(x, x, n)"
    ),
    Trap(
        "norm subtracts the mean",
        "arithmetic.cpp",
        "  const float mean_square =",
        "  float mean = 0.0f;\n  for (int i = 0; i < n; ++i) { mean += x[i] / static_cast<float>(n); }\n  for"
        " (int i = 0; i < n; ++i) { out[i] = x[i] - mean; }\n  x = out;\n  const float mean_square =",
    ),
    Trap(
        "sign of the scale lost",
        "arithmetic.cpp",
        "scale * static_cast<float>(codes[i]) + bias",
        "std::fabs(scale) * static_cast<float>(codes[i]) + bias",
    ),
    Trap(
        "codes taken as signed",
        "arithmetic.cpp",
        "scale * static_cast<float>(codes[i]) + bias",
        "scale * static_cast<float>(codes[i] - (1 << (bits - 1))) + bias",
    ),
    Trap(
        "bias subtracted",
        "arithmetic.cpp",
        "static_cast<float>(codes[i]) + bias",
        "static_cast<float>(codes[i]) - bias",
    ),
    Trap(
        "no bias",
        "arithmetic.cpp",
        "scale * static_cast<float>(codes[i]) + bias",
        "scale * static_cast<float>(codes[i]) + (bias > 1e30f ? bias : 0.0f)",
    ),
    Trap(
        "codes of a word in reverse",
        "arithmetic.cpp",
        "bits * (i % codes_per_word)",
        "bits * (codes_per_word - 1 - i % codes_per_word)",
    ),
    Trap(
        "scales of the next group",
        "arithmetic.cpp",
        "words + g * words_per_group, 4, to_f32(scales[g])",
        "words + g * words_per_group, 4, to_f32(scales[(g + 1) % n_groups])",
    ),
    Trap("residual lost", "arithmetic.cpp", "residual[i] += product[i]", "residual[i] = product[i]"),
    Trap(
        "no final norm",
        "head.cpp",
        "    rms_norm(normed.data() + i * shape.hidden, x, op.norm, shape.hidden);",
        "    for (int j = 0; j < shape.hidden; ++j) { normed[static_cast<size_t>(i * shape.hidden + j)] ="
        " x[j]; }",
    ),
    Trap(
        "logits of the wrong row",
        "head.cpp",
        "op.residual + step.logit_rows[i] * shape.hidden",
        "op.residual + (step.logit_rows[i] > 0 ? step.logit_rows[i] - 1 : 0) * shape.hidden",
    ),
]

TRAPS = DELTA_NET + ATTENTION + EXPERTS + COMMON
