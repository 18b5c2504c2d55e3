// Random numbers as a pure function of (seed, tensor name, index): the primitives of
// tools/fixtures/seeded_weights.py, where the formula stands.
#pragma once

#include <cstdint>
#include <string>

namespace orfebre::test {

inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

inline uint64_t key_of(uint64_t seed, const std::string& tensor, const char* part) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : tensor + "." + part) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  return mix(mix(seed) ^ hash);
}

// 64 random bits.
inline uint64_t word(uint64_t key, uint64_t index) {
  return mix(key + (index + 1) * 0x9e3779b97f4a7c15ull);
}

// [0, 1), a multiple of 2^-24.
inline float unit(uint64_t key, uint64_t index) {
  return static_cast<float>(word(key, index) >> 40) * 0x1p-24f;
}

}  // namespace orfebre::test
