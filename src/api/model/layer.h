// SPDX-License-Identifier: Apache-2.0
// Layer: the layer of DynamoDB that checks the values of an operation and words its errors.
#pragma once

#include "stator/requests.h"

namespace stator {

enum class Layer {
  kOlder,    // BatchWriteItem, Scan, transactions, statements
  kCurrent,  // GetItem, BatchGetItem, Query
  kCounted,  // PutItem, UpdateItem, DeleteItem: as kCurrent, after "1 validation error detected: "
};

template <class Request>
inline constexpr Layer kLayerOf = Layer::kOlder;
template <>
inline constexpr Layer kLayerOf<PutItemRequest> = Layer::kCounted;
template <>
inline constexpr Layer kLayerOf<UpdateItemRequest> = Layer::kCounted;
template <>
inline constexpr Layer kLayerOf<DeleteItemRequest> = Layer::kCounted;
template <>
inline constexpr Layer kLayerOf<GetItemRequest> = Layer::kCurrent;
template <>
inline constexpr Layer kLayerOf<BatchGetItemRequest> = Layer::kCurrent;
template <>
inline constexpr Layer kLayerOf<QueryRequest> = Layer::kCurrent;

// An error of a request's values, parameters or expressions, in the wording of the layer.
Error worded(Layer layer, Error error);
Result<void> worded(Layer layer, Result<void> result);

}  // namespace stator
