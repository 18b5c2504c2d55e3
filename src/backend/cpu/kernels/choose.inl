// Choosing: the router's top 8, and passes over logits for pick.

// Index of the largest of n (a multiple of 16), ties to the lower; -1 when nothing is over -infinity.
inline int index_of_largest(const float* x, int n) {
  F peak = splat(-__builtin_inff());
  for (int i = 0; i < n; i += 16) {
    peak = larger(load(x + i), peak);  // NaN in x leaves the peak as it was
  }
  const float value = largest_lane(peak);
  if (!(value > -__builtin_inff())) {
    return -1;
  }
  for (int i = 0; i < n; i += 16) {
    const uint32_t equal = equal_lanes(load(x + i), splat(value));
    if (equal != 0) {
      return i + __builtin_ctz(equal);
    }
  }
  return -1;
}

// The lowest id that is not among the first n.
inline int first_free(const int32_t* ids, int n) {
  for (int id = 0;; ++id) {
    bool taken = false;
    for (int i = 0; i < n; ++i) {
      taken = taken || ids[i] == id;
    }
    if (!taken) {
      return id;
    }
  }
}

void top_experts(int32_t* ids, float* weights, float* logits, int n) {
  constexpr int kTop = CommonShape::kActiveExperts;
  alignas(64) float chosen[16];
  store(chosen, splat(-__builtin_inff()));
  const int first = index_of_largest(logits, n);
  const F shift = splat(first < 0 ? 0.0f : logits[first]);
  F all = zero();  // NaN when a logit is NaN, and when one is infinite: the weights then are NaN too
  for (int i = 0; i < n; i += 16) {
    all = all + exponential(load(logits + i) - shift);
  }
  const float total = sum_lanes(all);
  for (int slot = 0; slot < kTop; ++slot) {
    int id = index_of_largest(logits, n);
    if (id < 0) {  // only NaN and -infinity are left; with NaN the weights are NaN
      id = first_free(ids, slot);
    } else {
      chosen[slot] = logits[id];
      logits[id] = -__builtin_inff();
    }
    ids[slot] = id;
  }
  const F probabilities = exponential(load(chosen) - shift) / splat(total);
  store(chosen, probabilities / splat(sum_lanes(probabilities)));
  for (int slot = 0; slot < kTop; ++slot) {
    weights[slot] = chosen[slot];
  }
}

// Calls step(F) for every 16 of n values; a last short part is filled up with -infinity.
template <class Step>
inline void for_padded(const float* x, int n, Step step) {
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    step(load(x + i), i);
  }
  if (i < n) {
    alignas(64) float tail[16];
    store(tail, splat(-__builtin_inff()));
    for (int j = 0; i + j < n; ++j) {
      tail[j] = x[i + j];
    }
    step(load(tail), i);
  }
}

float largest(const float* x, int n) {
  const F infinity = splat(__builtin_inff());
  F peak = splat(-__builtin_inff());
  for_padded(x, n, [&](F part, int) {
    peak =
        larger(where_less(part, infinity, part, infinity), peak);  // NaN is not less: it counts as infinity
  });
  return largest_lane(peak);
}

double sum_exp(const float* x, int n, float shift, float divisor) {
  double total = 0;
  for (int first = 0; first < n; first += 1024) {
    F sum = zero();
    for_padded(x + first, smaller_of(1024, n - first),
               [&](F part, int) { sum = sum + exponential((part - splat(shift)) / splat(divisor)); });
    total += static_cast<double>(sum_lanes(sum));
  }
  return total;
}

int collect(int32_t* ids, const float* x, int n, float threshold, int32_t base) {
  constexpr float kLowest = -3.40282347e38f;
  int count = 0;
  const F limit = splat(threshold < kLowest ? kLowest : threshold);
  for_padded(x, n, [&](F part, int at) {
    for (uint32_t lanes = at_least_lanes(part, limit); lanes != 0; lanes &= lanes - 1) {
      ids[count++] = base + at + __builtin_ctz(lanes);
    }
  });
  return count;
}

int collect_used(int32_t* ids, const uint32_t* counts, int n) {
  int count = 0;
  for (int i = 0; i < n; i += 32) {
    const int end = smaller_of(i + 32, n);
    uint32_t any = 0;
    for (int j = i; j < end; ++j) {
      any |= counts[j];
    }
    for (int j = i; any != 0 && j < end; ++j) {
      if (counts[j] != 0) {
        ids[count++] = j;
      }
    }
  }
  return count;
}

void apply_mask(float* x, const uint32_t* mask, int n) {
  for (int i = 0; i < n; i += 32) {
    const uint32_t word = mask[i / 32];
    if (word == 0xffffffffu) {
      continue;
    }
    const int end = smaller_of(i + 32, n);
    for (int j = i; j < end; ++j) {
      x[j] = ((word >> (j - i)) & 1u) != 0 ? x[j] : -__builtin_inff();
    }
  }
}
