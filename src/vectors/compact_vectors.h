// SPDX-License-Identifier: Apache-2.0
// CompactVectors: vectors in one piece of memory, a byte for each component, with the distance
// between each vector and what is kept of it. A search reads a quarter of the bytes, and knows how
// far off it can be.
//
// Thread safety: const methods may be called from any thread at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stator {

class CompactVectors {
 public:
  using Slot = uint32_t;

  explicit CompactVectors(std::size_t dimensions) : dimensions_(dimensions) {}

  // `vector`: as many floats as there are dimensions, at any address. Slots from the last one used
  // to this one come into being.
  void set(Slot slot, const char* vector);

  // With lengths in the Euclidean sense. Infinite or NaN where a float is too small.
  struct Approximation {
    float product = 0;      // of the query and what is kept, each sum within kSumRounding
    float length = 0;       // of the vector
    float kept_length = 0;  // of what is kept of it
    float error = 0;        // of the difference of the two
  };
  Approximation look(std::span<const float> query, Slot slot) const;

  std::size_t bytes() const { return chunks_.size() * chunk_bytes(dimensions_); }
  // How many bytes so many vectors take.
  static std::size_t bytes_of(std::size_t vectors, std::size_t dimensions);

 private:
  static constexpr std::size_t kChunkSlots = 256;
  struct Kept {
    float scale = 0;  // of its codes
    float length = 0;
    float kept_length = 0;
    float error = 0;
  };
  struct Chunk {
    Kept kept[kChunkSlots];
    std::unique_ptr<int8_t[]> codes;
  };

  static std::size_t chunk_bytes(std::size_t dimensions) {
    return sizeof(Chunk) + kChunkSlots * dimensions;
  }

  std::size_t dimensions_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace stator
