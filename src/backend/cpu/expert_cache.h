// Experts on demand: a fixed number of places in memory for routed experts, each with the panels of its gate,
// up and down matrix, read from the weight source when a step needs them. The expert that was not used for
// longest makes room. Why not a mapped file: panels differ from the file's layout, so mapping would need a
// second file of 18 GB; and a mapped file that shrinks kills the process, where a read gives an error.
#pragma once

#include "backend/backend.h"
#include "backend/cpu/huge_memory.h"
#include "base/thread_pool.h"

#include <array>
#include <list>
#include <span>
#include <vector>

namespace orfebre::cpu {

class ExpertCache {
 public:
  // `source` outlives the cache. Throws Error(kInvalidRequest) when the budget does not hold one layer.
  ExpertCache(WeightSource& source, uint64_t budget_bytes);
  ExpertCache(const ExpertCache&) = delete;
  ExpertCache& operator=(const ExpertCache&) = delete;

  // Handles for the ops: `codes` points to a table of panels by expert, `scales` to the layer.
  std::vector<Backend::ExpertMatrices> handles() const;

  static bool is_handle(const Matrix& matrix) { return matrix.scales != nullptr; }
  // Panels of an expert that the last `require` named.
  static const uint8_t* panels(const Matrix& matrix, int expert) {
    return static_cast<const uint8_t* const*>(matrix.codes)[expert];
  }

  // Makes the experts (distinct) of the handle's layer resident until the next call. Throws what reading
  // throws; the cache then holds whatever it could read, and stays usable.
  void require(const Matrix& handle, std::span<const int> experts, ThreadPool& pool);

  int n_places() const { return static_cast<int>(places_.size()); }

 private:
  static constexpr int kParts = 3;  // gate, up, down
  struct Place {
    int layer = -1;  // -1: holds nothing
    int expert = 0;
    uint8_t* memory = nullptr;
  };
  using Places = std::list<Place>;  // used last comes first
  struct Layer {
    int index = 0;
    std::array<MatrixSpec, kParts> specs;
    std::array<int, kParts> bits;
    std::array<std::vector<const uint8_t*>, kParts> tables;  // [experts] panels, or null
    std::vector<Places::iterator> places;                    // [experts], end() when absent
  };

  void add_layer(int index, const std::vector<MatrixSpec>& specs);
  void claim(Layer& layer, int expert);
  void forget(Layer& layer, int expert);
  void read(const Layer& layer, int expert, int part, std::vector<std::byte>& memory);
  uint8_t* part_of(const Layer& layer, uint8_t* memory, int part) const;

  WeightSource& source_;
  HugeMemory memory_;
  Places places_;
  std::vector<Layer> layers_;
  std::vector<int> missing_;
  std::vector<std::vector<std::byte>> buffers_;  // one a thread
};

}  // namespace orfebre::cpu
