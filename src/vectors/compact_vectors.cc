// SPDX-License-Identifier: Apache-2.0
#include "vectors/compact_vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "vectors/distance.h"

namespace stator {
namespace {

constexpr float kCodeMax = 127;

// Rounded up, because errors are upper bounds.
float length_of(double squares) {
  constexpr double kUp = 1 + 1e-6;
  return static_cast<float>(std::sqrt(squares) * kUp);
}

}  // namespace

std::size_t CompactVectors::bytes_of(std::size_t vectors, std::size_t dimensions) {
  return (vectors + kChunkSlots - 1) / kChunkSlots * chunk_bytes(dimensions);
}

void CompactVectors::set(Slot slot, const char* vector) {
  while (chunks_.size() * kChunkSlots <= slot) {
    auto chunk = std::make_unique<Chunk>();
    chunk->codes = std::make_unique<int8_t[]>(kChunkSlots * dimensions_);
    chunks_.push_back(std::move(chunk));
  }
  Chunk& chunk = *chunks_[slot / kChunkSlots];
  int8_t* const codes = chunk.codes.get() + slot % kChunkSlots * dimensions_;
  const auto component = [&](std::size_t i) {
    float read = 0;
    std::memcpy(&read, vector + i * sizeof read, sizeof read);
    return read;
  };

  float largest = 0;
  for (std::size_t i = 0; i < dimensions_; ++i) {
    largest = std::max(largest, std::abs(component(i)));
  }
  // 0 if all components are 0 or so small that the quotient overflows.
  const float scale = std::isfinite(kCodeMax / largest) ? largest / kCodeMax : 0;
  const float factor = scale > 0 ? kCodeMax / largest : 0;
  double squares = 0;
  double kept = 0;
  double differences = 0;
  for (std::size_t i = 0; i < dimensions_; ++i) {
    const float whole = component(i);
    const float code = std::clamp(std::nearbyint(whole * factor), -kCodeMax, kCodeMax);
    codes[i] = static_cast<int8_t>(code);
    const double shown = double{scale} * code;
    squares += double{whole} * whole;
    kept += shown * shown;
    differences += (whole - shown) * (whole - shown);
  }
  chunk.kept[slot % kChunkSlots] = {.scale = scale,
                                    .length = length_of(squares),
                                    .kept_length = length_of(kept),
                                    .error = length_of(differences)};
}

CompactVectors::Approximation CompactVectors::look(std::span<const float> query, Slot slot) const {
  const Kept& kept = this->kept(slot);
  return {.product = kept.scale * dot_product(query, codes(slot).data()),
          .length = kept.length,
          .kept_length = kept.kept_length,
          .error = kept.error};
}

float CompactVectors::product(Slot one, Slot other) const {
  const auto product = static_cast<float>(dot_product(codes(one), codes(other).data()));
  return product * (kept(one).scale * kept(other).scale);  // unchanged if the slots are swapped
}

void CompactVectors::prefetch(Slot slot) const {
  constexpr std::size_t kLineBytes = 64;
  constexpr std::size_t kLines = 4;  // the hardware prefetches the rest
  const std::span<const int8_t> codes = this->codes(slot);
  for (std::size_t line = 0; line < std::min(kLines, codes.size() / kLineBytes); ++line) {
    __builtin_prefetch(codes.data() + line * kLineBytes);
  }
}

}  // namespace stator
