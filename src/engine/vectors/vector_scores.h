// SPDX-License-Identifier: Apache-2.0
// VectorScores: the scores of rows for one query, and bounds of the scores of CompactVectors.
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

  // The score that SearchVectors returns.
  float of(const VectorRowView& row) const;
  bool is_nearer(float one, float other) const {
    return function_ == VectorDistanceFunction::kDotProduct ? one > other : one < other;
  }

  // The score that of() returns is between these. For kDotProduct, the negative score is: a lower
  // bound is always nearer.
  struct Bounds {
    float low = 0;
    float high = 0;
  };
  Bounds bounds(const CompactVectors& vectors, CompactVectors::Slot slot) const;

  // Orders vectors nearly as of() does: the lower, the nearer. Finite; meaningful if both lengths
  // are ordinary.
  float estimate(const CompactVectors& vectors, CompactVectors::Slot slot) const;
  static float estimate(VectorDistanceFunction function, const CompactVectors& vectors,
                        CompactVectors::Slot one, CompactVectors::Slot other);
  // Not zero, and products with other ordinary ones fit into floats.
  static bool is_ordinary(double length) { return length > 1e-15 && length < 1e15; }
  double length() const { return length_; }  // of the query

 private:
  float quickly(const VectorRowView& row) const;
  float exactly(const char* stored) const;

  const VectorDistanceFunction function_;
  const std::vector<float>& query_;
  const double underflow_;  // the most that products below the smallest normal float lose
  double length_ = 0;
};

}  // namespace stator
