// SPDX-License-Identifier: Apache-2.0
// Any body as a request of every operation: an error or a request, whose JSON reads back to the
// same request.
#include "api/validate.h"
#include "api/wire.h"
#include "base/check.h"

namespace {

template <class Request>
void check(std::string_view body) {
  const auto request = stator::wire::read_request<Request>(body);
  if (!request) return;
  const auto valid = stator::validate(*request);
  const std::string json = stator::wire::to_json(*request);
  const auto again = stator::wire::read_request<Request>(json);
  STATOR_CHECK(again);
  STATOR_CHECK(stator::wire::to_json(*again) == json);
  const auto valid_again = stator::validate(*again);
  STATOR_CHECK(valid.has_value() == valid_again.has_value());
  STATOR_CHECK(valid || valid.error().message == valid_again.error().message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  check<stator::CreateTableRequest>(body);
  check<stator::DescribeTableRequest>(body);
  check<stator::ListTablesRequest>(body);
  check<stator::DeleteTableRequest>(body);
  check<stator::PutItemRequest>(body);
  check<stator::GetItemRequest>(body);
  check<stator::UpdateItemRequest>(body);
  check<stator::DeleteItemRequest>(body);
  check<stator::QueryRequest>(body);
  check<stator::ScanRequest>(body);
  check<stator::BatchGetItemRequest>(body);
  check<stator::BatchWriteItemRequest>(body);
  check<stator::TransactWriteItemsRequest>(body);
  check<stator::TransactGetItemsRequest>(body);
  return 0;
}
