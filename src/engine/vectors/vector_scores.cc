// SPDX-License-Identifier: Apache-2.0
#include "engine/vectors/vector_scores.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "vectors/distance.h"

namespace stator {
namespace {

constexpr float kUnknownScore = std::numeric_limits<float>::quiet_NaN();

// Limits a score to the range of a float.
float clamped(double score) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(score, -kMax, kMax));
}

float estimate_of(VectorDistanceFunction function, double product, double length, double other) {
  double distance = 0;
  switch (function) {
    case VectorDistanceFunction::kCosine:
      distance = 1 - product / (length * other);
      break;
    case VectorDistanceFunction::kDotProduct:
      distance = -product;
      break;
    case VectorDistanceFunction::kEuclidean:
      distance = length * length + other * other - 2 * product;
      break;
  }
  return std::isnan(distance) ? std::numeric_limits<float>::max() : clamped(distance);
}

float cosine(double similarity) {
  return static_cast<float>(1 - std::clamp(similarity, -1.0, 1.0));
}

}  // namespace

VectorScores::VectorScores(VectorDistanceFunction function, const std::vector<float>& query)
    : function_(function),
      query_(query),
      underflow_(static_cast<double>(query.size()) * double{std::numeric_limits<float>::min()}) {
  for (const float component : query) length_ += double{component} * component;
  length_ = std::sqrt(length_);
}

float VectorScores::of(const VectorRowView& row) const {
  const float score = quickly(row);
  return std::isfinite(score) ? score : exactly(row.vector());
}

float VectorScores::quickly(const VectorRowView& row) const {
  switch (function_) {
    case VectorDistanceFunction::kCosine: {
      if (length_ == 0 || row.length() == 0) return 1;
      const float product = dot_product(query_, row.vector());
      const bool fits = std::isfinite(product) && std::isfinite(row.length());
      return fits ? cosine(product / (length_ * row.length())) : kUnknownScore;
    }
    case VectorDistanceFunction::kDotProduct:
      return dot_product(query_, row.vector());
    case VectorDistanceFunction::kEuclidean:
      return std::sqrt(squared_distance(query_, row.vector()));
  }
  return 0;
}

// Computed in doubles, because products can exceed the range of a float.
float VectorScores::exactly(const char* stored) const {
  double products = 0;
  double squares = 0;
  double differences = 0;
  for (std::size_t i = 0; i < query_.size(); ++i) {
    float component = 0;
    std::memcpy(&component, stored + i * sizeof component, sizeof component);
    products += double{query_[i]} * component;
    squares += double{component} * component;
    differences += (double{query_[i]} - component) * (double{query_[i]} - component);
  }
  switch (function_) {
    case VectorDistanceFunction::kCosine:
      return cosine(products / (length_ * std::sqrt(squares)));
    case VectorDistanceFunction::kDotProduct:
      return clamped(products);
    case VectorDistanceFunction::kEuclidean:
      return clamped(std::sqrt(differences));
  }
  return 0;
}

// The product differs from the exact one by at most the length of the query times kept.error. The
// distance differs by at most kept.error (the triangle inequality). Both sums are rounded, this one
// and that of of(), and products below the smallest normal float lose digits.
VectorScores::Bounds VectorScores::bounds(const CompactVectors& vectors,
                                          CompactVectors::Slot slot) const {
  constexpr double kRounding = 2 * kSumRounding;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr Bounds kUnknown{.low = -kInfinity, .high = kInfinity};
  const CompactVectors::Approximation kept = vectors.look(query_, slot);
  if (!std::isfinite(kept.product) || !std::isfinite(kept.length)) return kUnknown;
  const double product = kept.product;
  const double product_error =
      length_ * (kept.error + kRounding * (kept.length + kept.error)) + underflow_;
  double low = 0;
  double high = 0;
  switch (function_) {
    case VectorDistanceFunction::kCosine: {
      const double lengths = length_ * kept.length;
      if (lengths == 0) return {.low = 1, .high = 1};
      low = std::max(0.0, 1 - (product + product_error) / lengths - kRounding);
      high = std::min(2.0, 1 - (product - product_error) / lengths + kRounding);
      break;
    }
    case VectorDistanceFunction::kDotProduct:
      low = -product - product_error;
      high = -product + product_error;
      break;
    case VectorDistanceFunction::kEuclidean: {
      const double kept_length = kept.kept_length;
      const double square = length_ * length_ - 2 * product + kept_length * kept_length;
      const double rounding =
          kRounding * (length_ + kept_length) * (length_ + kept_length) + underflow_;
      low = std::sqrt(std::max(0.0, square - rounding)) - kept.error;
      high = std::sqrt(std::max(0.0, square + rounding)) + kept.error;
      low -= kRounding * std::abs(low) + std::sqrt(underflow_);
      high += kRounding * high + std::sqrt(underflow_);
      break;
    }
  }
  if (!std::isfinite(static_cast<float>(low)) || !std::isfinite(static_cast<float>(high))) {
    return kUnknown;
  }
  return {.low = std::nextafter(static_cast<float>(low), -kInfinity),
          .high = std::nextafter(static_cast<float>(high), kInfinity)};
}

float VectorScores::estimate(const CompactVectors& vectors, CompactVectors::Slot slot) const {
  const CompactVectors::Approximation kept = vectors.look(query_, slot);
  return estimate_of(function_, kept.product, length_, kept.kept_length);
}

float VectorScores::estimate(VectorDistanceFunction function, const CompactVectors& vectors,
                             CompactVectors::Slot one, CompactVectors::Slot other) {
  return estimate_of(function, vectors.product(one, other), vectors.kept_length(one),
                     vectors.kept_length(other));
}

}  // namespace stator
