#include "backend/cpu/expert_cache.h"

#include "backend/cpu/panels.h"
#include "base/error.h"

#include <algorithm>

namespace orfebre::cpu {
namespace {

uint64_t expert_part_bytes(const MatrixSpec& spec, int bits) {
  return panels_bytes(spec.n_out, spec.n_in, bits);
}

int part_index(MatrixRole role) {
  return role == MatrixRole::kExpertGate ? 0 : role == MatrixRole::kExpertUp ? 1 : 2;
}

}  // namespace

ExpertCache::ExpertCache(WeightSource& source, uint64_t budget_bytes) : source_(source) {
  const ShapeInfo& shape = source.shape();
  const std::vector<MatrixSpec> specs = matrix_specs(shape);
  uint64_t place_bytes = 0;
  for (int index = 0; index < shape.layers; ++index) {
    add_layer(index, specs);
    uint64_t bytes = 0;
    for (size_t part = 0; part < kParts; ++part) {
      bytes += expert_part_bytes(layers_.back().specs[part], layers_.back().bits[part]);
    }
    place_bytes = std::max(place_bytes, bytes);
  }
  const auto n_all = static_cast<uint64_t>(shape.layers) * static_cast<uint64_t>(shape.experts);
  const uint64_t n_places = std::min(budget_bytes / place_bytes, n_all);
  if (n_places < static_cast<uint64_t>(shape.experts)) {
    fail(ErrorKind::kInvalidRequest,
         "the experts of one layer need {} bytes of memory, found {} set aside for them",
         static_cast<uint64_t>(shape.experts) * place_bytes, budget_bytes);
  }
  uint8_t* const memory = memory_.allocate(n_places * place_bytes, "experts");
  for (uint64_t i = 0; i < n_places; ++i) {
    places_.push_back({-1, 0, memory + i * place_bytes});
  }
  for (Layer& layer : layers_) {
    layer.places.assign(static_cast<size_t>(shape.experts), places_.end());
  }
}

void ExpertCache::add_layer(int index, const std::vector<MatrixSpec>& specs) {
  Layer& layer = layers_.emplace_back();
  layer.index = index;
  for (const MatrixSpec& spec : specs) {
    if (spec.layer == index && is_expert(spec.role)) {
      const auto part = static_cast<size_t>(part_index(spec.role));
      layer.specs[part] = spec;
      layer.bits[part] = source_.matrix_bits(spec);
      layer.tables[part].assign(static_cast<size_t>(spec.n_matrices), nullptr);
    }
  }
}

std::vector<Backend::ExpertMatrices> ExpertCache::handles() const {
  std::vector<Backend::ExpertMatrices> all;
  for (const Layer& layer : layers_) {
    const auto handle = [&layer](size_t part) {
      const MatrixSpec& spec = layer.specs[part];
      return Matrix{layer.tables[part].data(), &layer, nullptr, spec.n_matrices, spec.n_out, spec.n_in,
                    layer.bits[part]};
    };
    all.push_back({handle(0), handle(1), handle(2)});
  }
  return all;
}

uint8_t* ExpertCache::part_of(const Layer& layer, uint8_t* memory, int part) const {
  for (size_t before = 0; before < static_cast<size_t>(part); ++before) {
    memory += expert_part_bytes(layer.specs[before], layer.bits[before]);
  }
  return memory;
}

void ExpertCache::require(const Matrix& handle, std::span<const int> experts, ThreadPool& pool) {
  // Handles are constant for the ops; the layers behind them are this cache's own.
  Layer& layer = layers_[static_cast<size_t>(static_cast<const Layer*>(handle.scales)->index)];
  missing_.clear();
  for (const int expert : experts) {
    const Places::iterator place = layer.places[static_cast<size_t>(expert)];
    if (place == places_.end()) {
      missing_.push_back(expert);
    } else {
      places_.splice(places_.begin(), places_, place);
    }
  }
  if (missing_.empty()) {
    return;
  }
  for (const int expert : missing_) {
    claim(layer, expert);
  }
  buffers_.resize(static_cast<size_t>(pool.size()));
  try {
    pool.run_dynamic(static_cast<int64_t>(missing_.size()) * kParts, 1,
                     [&](int64_t begin, int64_t end, int thread) {
                       for (int64_t i = begin; i < end; ++i) {
                         read(layer, missing_[static_cast<size_t>(i / kParts)], static_cast<int>(i % kParts),
                              buffers_[static_cast<size_t>(thread)]);
                       }
                     });
  } catch (...) {
    for (const int expert : missing_) {
      forget(layer, expert);
    }
    throw;
  }
  for (const int expert : missing_) {
    uint8_t* const memory = layer.places[static_cast<size_t>(expert)]->memory;
    for (int part = 0; part < kParts; ++part) {
      layer.tables[static_cast<size_t>(part)][static_cast<size_t>(expert)] = part_of(layer, memory, part);
    }
  }
}

// The place used longest ago becomes the expert's. It is not one that this step needs: those come first in
// the list, and there are places for all experts of a layer.
void ExpertCache::claim(Layer& layer, int expert) {
  const Places::iterator place = std::prev(places_.end());
  if (place->layer >= 0) {
    Layer& other = layers_[static_cast<size_t>(place->layer)];
    other.places[static_cast<size_t>(place->expert)] = places_.end();
    for (auto& table : other.tables) {
      table[static_cast<size_t>(place->expert)] = nullptr;
    }
  }
  place->layer = layer.index;
  place->expert = expert;
  places_.splice(places_.begin(), places_, place);
  layer.places[static_cast<size_t>(expert)] = place;
}

void ExpertCache::forget(Layer& layer, int expert) {
  const Places::iterator place = layer.places[static_cast<size_t>(expert)];
  place->layer = -1;
  places_.splice(places_.end(), places_, place);
  layer.places[static_cast<size_t>(expert)] = places_.end();
}

void ExpertCache::read(const Layer& layer, int expert, int part, std::vector<std::byte>& memory) {
  const MatrixSpec& spec = layer.specs[static_cast<size_t>(part)];
  const int first_row = expert * spec.n_out;
  const AffineTensor rows = source_.read_rows(memory, spec, first_row, spec.n_out);
  uint8_t* const place = layer.places[static_cast<size_t>(expert)]->memory;
  repack_rows(part_of(layer, place, part), spec.role, spec.n_out, 0, rows);
}

}  // namespace orfebre::cpu
