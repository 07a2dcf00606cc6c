// SPDX-License-Identifier: Apache-2.0
// CompactVectors: vectors in large blocks of memory, one byte for each component. Stores the
// distance between each original and its stored vector, which bounds the error of a search.
//
// Thread safety: any thread can call const methods concurrently; set() requires exclusive access.
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

  // `vector`: as many floats as there are dimensions, at any alignment. Allocates all slots up to
  // this one.
  void set(Slot slot, const char* vector);

  // Lengths are Euclidean. Values are infinite or NaN if they exceed the range of a float.
  struct Approximation {
    float product = 0;      // dot product of the query and the stored vector, see kSumRounding
    float length = 0;       // of the original vector
    float kept_length = 0;  // of the stored vector
    float error = 0;        // length of their difference
  };
  Approximation look(std::span<const float> query, Slot slot) const;

  // The dot product of two stored vectors. Infinite if it exceeds the range of a float.
  float product(Slot one, Slot other) const;
  float length(Slot slot) const { return kept(slot).length; }
  float kept_length(Slot slot) const { return kept(slot).kept_length; }
  // Prefetches the codes of `slot`, before look() or product().
  void prefetch(Slot slot) const;

  std::size_t bytes() const { return chunks_.size() * chunk_bytes(dimensions_); }
  // The memory for `vectors` vectors, in bytes.
  static std::size_t bytes_of(std::size_t vectors, std::size_t dimensions);

 private:
  static constexpr std::size_t kChunkSlots = 256;
  struct Kept {
    float scale = 0;  // multiplies the codes
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
