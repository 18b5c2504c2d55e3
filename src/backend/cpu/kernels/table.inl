// The table of this instruction set, from the names that the other .inl files define.
constexpr Kernels kTable = {kName,       rms_norm,     quantize,    embed,        norm_rope,
                            cache_token, project,      expert_up,   expert_down,  delta_head,
                            attend,      attend_block, attend_fold, top_experts,  sigmoid_in_place,
                            largest,     sum_exp,      collect,     collect_used, apply_mask};
