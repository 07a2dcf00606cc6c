// SPDX-License-Identifier: Apache-2.0
// Any body as a request of every operation: an error or a request, whose JSON reads back to the
// same request.
#include <boost/pfr/ops_fields.hpp>
#include <concepts>

#include "api/validate.h"
#include "api/wire.h"
#include "base/check.h"

namespace stator {

// Member by member, whatever members there are.
template <class T>
  requires(std::same_as<T, KeysAndAttributes> || std::same_as<T, WriteRequest> ||
           std::same_as<T, TransactWriteItem> || std::same_as<T, TransactGetItem>)
bool operator==(const T& a, const T& b) {
  return boost::pfr::eq_fields(a, b);
}

namespace {

// Written out, a legacy parameter is the expression that it was translated to.
void forget_legacy(auto& request) {
  if constexpr (requires { request.legacy; }) request.legacy = false;
}
void forget_legacy(BatchGetItemRequest& request) {
  for (auto& [table, wanted] : request.items) forget_legacy(wanted);
}

template <class Request>
void check(std::string_view body) {
  auto request = wire::read_request<Request>(body);
  if (!request) return;
  const auto valid = validate(*request);
  const std::string json = wire::to_json(*request);
  const auto again = wire::read_request<Request>(json);
  STATOR_CHECK(again);
  STATOR_CHECK(wire::to_json(*again) == json);
  const auto valid_again = validate(*again);
  STATOR_CHECK(valid.has_value() == valid_again.has_value());
  STATOR_CHECK(valid || valid.error().message == valid_again.error().message);
  forget_legacy(*request);
  STATOR_CHECK(boost::pfr::eq_fields(*request, *again));
}

}  // namespace
}  // namespace stator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  stator::check<stator::CreateTableRequest>(body);
  stator::check<stator::DescribeTableRequest>(body);
  stator::check<stator::ListTablesRequest>(body);
  stator::check<stator::DeleteTableRequest>(body);
  stator::check<stator::PutItemRequest>(body);
  stator::check<stator::GetItemRequest>(body);
  stator::check<stator::UpdateItemRequest>(body);
  stator::check<stator::DeleteItemRequest>(body);
  stator::check<stator::QueryRequest>(body);
  stator::check<stator::ScanRequest>(body);
  stator::check<stator::BatchGetItemRequest>(body);
  stator::check<stator::BatchWriteItemRequest>(body);
  stator::check<stator::TransactWriteItemsRequest>(body);
  stator::check<stator::TransactGetItemsRequest>(body);
  return 0;
}
