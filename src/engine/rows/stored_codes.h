// SPDX-License-Identifier: Apache-2.0
// The numbers of enumerators in stored data. They never change, and do not depend on the order of
// the declarations. A new enumerator without a number does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "stator/requests.h"

namespace stator {

constexpr int stored_code(KeyType type) {
  switch (type) {
    case KeyType::kHash:
      return 0;
    case KeyType::kRange:
      return 1;
  }
  return -1;
}

constexpr int stored_code(ScalarType type) {
  switch (type) {
    case ScalarType::kS:
      return 0;
    case ScalarType::kN:
      return 1;
    case ScalarType::kB:
      return 2;
  }
  return -1;
}

constexpr int stored_code(ProjectionType type) {
  switch (type) {
    case ProjectionType::kAll:
      return 0;
    case ProjectionType::kKeysOnly:
      return 1;
    case ProjectionType::kInclude:
      return 2;
  }
  return -1;
}

constexpr int stored_code(BillingMode mode) {
  switch (mode) {
    case BillingMode::kProvisioned:
      return 0;
    case BillingMode::kPayPerRequest:
      return 1;
  }
  return -1;
}

constexpr int stored_code(TableClass table_class) {
  switch (table_class) {
    case TableClass::kStandard:
      return 0;
    case TableClass::kStandardInfrequentAccess:
      return 1;
  }
  return -1;
}

constexpr int stored_code(EncryptionType type) {
  switch (type) {
    case EncryptionType::kAes256:
      return 0;
    case EncryptionType::kKms:
      return 1;
  }
  return -1;
}

constexpr int stored_code(StreamViewType view) {
  switch (view) {
    case StreamViewType::kNewImage:
      return 0;
    case StreamViewType::kOldImage:
      return 1;
    case StreamViewType::kNewAndOldImages:
      return 2;
    case StreamViewType::kKeysOnly:
      return 3;
  }
  return -1;
}

constexpr int stored_code(SearchSchemaElementType type) {
  switch (type) {
    case SearchSchemaElementType::kHash:
      return 0;
    case SearchSchemaElementType::kInlineFilter:
      return 1;
  }
  return -1;
}

constexpr int stored_code(VectorDistanceFunction function) {
  switch (function) {
    case VectorDistanceFunction::kCosine:
      return 0;
    case VectorDistanceFunction::kDotProduct:
      return 1;
    case VectorDistanceFunction::kEuclidean:
      return 2;
  }
  return -1;
}

// Used in the fingerprints of transactions with a token.
constexpr int stored_code(TransactAction action) {
  switch (action) {
    case TransactAction::kConditionCheck:
      return 0;
    case TransactAction::kPut:
      return 1;
    case TransactAction::kDelete:
      return 2;
    case TransactAction::kUpdate:
      return 3;
  }
  return -1;
}

// The enumerators of an enumeration in the order of their numbers, for from_stored().
template <class E>
inline constexpr std::array<E, 0> kStored{};
template <>
inline constexpr std::array kStored<KeyType>{KeyType::kHash, KeyType::kRange};
template <>
inline constexpr std::array kStored<ScalarType>{ScalarType::kS, ScalarType::kN, ScalarType::kB};
template <>
inline constexpr std::array kStored<ProjectionType>{ProjectionType::kAll, ProjectionType::kKeysOnly,
                                                    ProjectionType::kInclude};
template <>
inline constexpr std::array kStored<BillingMode>{BillingMode::kProvisioned,
                                                 BillingMode::kPayPerRequest};
template <>
inline constexpr std::array kStored<TableClass>{TableClass::kStandard,
                                                TableClass::kStandardInfrequentAccess};
template <>
inline constexpr std::array kStored<EncryptionType>{EncryptionType::kAes256, EncryptionType::kKms};
template <>
inline constexpr std::array kStored<StreamViewType>{
    StreamViewType::kNewImage, StreamViewType::kOldImage, StreamViewType::kNewAndOldImages,
    StreamViewType::kKeysOnly};
template <>
inline constexpr std::array kStored<SearchSchemaElementType>{
    SearchSchemaElementType::kHash, SearchSchemaElementType::kInlineFilter};
template <>
inline constexpr std::array kStored<VectorDistanceFunction>{VectorDistanceFunction::kCosine,
                                                            VectorDistanceFunction::kDotProduct,
                                                            VectorDistanceFunction::kEuclidean};

// Absent for an unknown number.
template <class E>
constexpr std::optional<E> from_stored(int64_t code) {
  for (const E value : kStored<E>) {
    if (stored_code(value) == code) return value;
  }
  return std::nullopt;
}

}  // namespace stator
