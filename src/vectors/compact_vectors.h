// SPDX-License-Identifier: Apache-2.0
// CompactVectors: vectors in large blocks of memory, one byte for each component. Each has the
// distance between the original and the stored vector, which bounds the error of a search.
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

  // `vector`: as many floats as there are dimensions, at any address. Allocates all slots up to
  // this one.
  void set(Slot slot, const char* vector);

  // Lengths are Euclidean. Infinite or NaN if a float is too small.
  struct Approximation {
    float product = 0;      // dot product of the query and the stored vector, see kSumRounding
    float length = 0;       // of the original vector
    float kept_length = 0;  // of the stored vector
    float error = 0;        // length of their difference
  };
  Approximation look(std::span<const float> query, Slot slot) const;

  // Of two stored vectors. Infinite if a float is too small.
  float product(Slot one, Slot other) const;
  float length(Slot slot) const { return kept(slot).length; }
  float kept_length(Slot slot) const { return kept(slot).kept_length; }
  // Tells the processor that look() or product() will need it.
  void prefetch(Slot slot) const;

  std::size_t bytes() const { return chunks_.size() * chunk_bytes(dimensions_); }
  // The memory of this number of vectors.
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

  const Kept& kept(Slot slot) const {
    return chunks_[slot / kChunkSlots]->kept[slot % kChunkSlots];
  }
  std::span<const int8_t> codes(Slot slot) const {
    const int8_t* const all = chunks_[slot / kChunkSlots]->codes.get();
    return {all + slot % kChunkSlots * dimensions_, dimensions_};
  }

  std::size_t dimensions_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace stator
