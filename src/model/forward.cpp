#include "model/forward.h"

namespace orfebre {
namespace {

// Gated DeltaNet: x += W_out gated_norm(delta_rule(conv(W_in norm(x)))).
void delta_layer(Backend& backend, const LayerWeights& layer, int delta_index, const ModelState& state,
                 Activations& x, const StepHeader* step) {
  const GdnWeights& w = layer.gdn;
  const BackendInfo& info = backend.info();
  float* const layer_state =
      state.slots + static_cast<uint64_t>(delta_index) * (info.delta_layer_floats + info.conv_layer_floats);
  backend.gdn_project({step, x.residual, layer.input_norm, w.qkv, w.z, w.a, w.b, x.qkv, x.z, x.a, x.b});
  backend.gdn_mix({step, x.qkv, x.z, x.a, x.b, w.conv, w.a_log, w.dt_bias, w.norm, layer_state,
                   layer_state + info.delta_layer_floats, info.state_slot_floats, x.mixed});
  backend.gdn_output({step, x.mixed, w.out, x.residual});
}

// Gated attention: x += W_out (attention(q, k, v) * sigmoid(gate)).
void attention_layer(Backend& backend, const LayerWeights& layer, int attention_index,
                     const ModelState& state, Activations& x, const StepHeader* step) {
  const AttnWeights& w = layer.attn;
  void* const kv_cache = state.kv_cache[static_cast<size_t>(attention_index)];
  backend.attn_project({step, x.residual, layer.input_norm, x.rope, w.q_gate, w.k, w.v, w.q_norm, w.k_norm,
                        x.q, x.gate, kv_cache});
  backend.attn_mix({step, x.q, x.gate, kv_cache, x.mixed});
  backend.attn_output({step, x.mixed, w.out, x.residual});
}

// Mixture of experts: x += sum of the 8 routed experts and the gated shared one.
void expert_layer(Backend& backend, const LayerWeights& layer, Activations& x, const StepHeader* step) {
  const MoeWeights& w = layer.moe;
  backend.route({step, x.residual, layer.post_norm, w.router, w.shared_gate, x.normed, x.expert_ids,
                 x.expert_weights, x.shared_weight});
  backend.experts_up(
      {step, x.normed, x.expert_ids, w.expert_gate, w.expert_up, w.shared_up_gate, w.shared_up, x.activated});
  backend.experts_down({step, x.activated, x.expert_ids, x.expert_weights, x.shared_weight, w.expert_down,
                        w.shared_down, x.residual});
}

}  // namespace

bool encode_forward(Backend& backend, const Weights& weights, const ModelState& state, Activations& x,
                    const StepHeader* step, const std::atomic<bool>* cancel) {
  const ShapeInfo& shape = backend.shape();
  backend.embed({step, state.picked, weights.embedding, x.residual, x.rope});
  int delta_index = 0;
  int attention_index = 0;
  for (int i = 0; i < shape.layers; ++i) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
      return false;
    }
    const LayerWeights& layer = weights.layers[static_cast<size_t>(i)];
    if (shape.is_attention(i)) {
      attention_layer(backend, layer, attention_index++, state, x, step);
    } else {
      delta_layer(backend, layer, delta_index++, state, x, step);
    }
    expert_layer(backend, layer, x, step);
  }
  if (step->n_logit_rows > 0) {
    backend.head({step, x.residual, weights.final_norm, weights.head, x.logits});
  }
  return true;
}

}  // namespace orfebre
