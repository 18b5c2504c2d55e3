"""Writes a trained checkpoint: Hugging Face bf16 directory, and MLX 4-bit directory.

Owns: config.json contents, tensor names of both layouts. The 4-bit file is made by mlx here;
the project's own `orfebre quantize` gives the same bytes of every tensor.
"""


def text_config():
    return dict(
        attention_bias=False, attention_dropout=0.0, attn_output_gate=True, bos_token_id=None, dtype="bfloat16",
        eos_token_id=None, full_attention_interval=4, head_dim=256, hidden_act="silu", hidden_size=256,
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
