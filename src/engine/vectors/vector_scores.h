// SPDX-License-Identifier: Apache-2.0
// VectorScores: how near vectors are to the one that is searched for, and between which bounds that
// is for those of which only CompactVectors are at hand.
#pragma once

#include <vector>

#include "engine/rows/vector_row.h"
#include "stator/requests.h"
#include "vectors/compact_vectors.h"

namespace stator {

class VectorScores {
 public:
  // `query` is borrowed.
  VectorScores(VectorDistanceFunction function, const std::vector<float>& query);

  // As SearchVectors returns it.
  float of(const VectorRowView& row) const;
  bool is_nearer(float one, float other) const {
    return higher_is_nearer_ ? one > other : one < other;
  }

  // What of() would return is between these, or, if the scores of nearer vectors are higher,
  // between their negatives. So a lower number is nearer in any case.
  struct Bounds {
    float low = 0;
    float high = 0;
  };
  Bounds bounds(const CompactVectors& vectors, CompactVectors::Slot slot) const;

 private:
  float quickly(const VectorRowView& row) const;
  float exactly(const char* stored) const;

  const VectorDistanceFunction function_;
  const bool higher_is_nearer_;
  const std::vector<float>& query_;
  double length_ = 0;
};

}  // namespace stator
