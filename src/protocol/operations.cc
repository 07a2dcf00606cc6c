// SPDX-License-Identifier: Apache-2.0
#include "protocol/operations.h"

namespace stator::protocol {
namespace {

constexpr std::string_view kStreamsOperations[] = {"DescribeStream", "GetRecords",
                                                   "GetShardIterator", "ListStreams"};

}  // namespace

std::string target_of(std::string_view operation) {
  const bool of_streams =
      std::ranges::find(kStreamsOperations, operation) != std::end(kStreamsOperations);
  std::string target(of_streams ? kStreamsPrefix : kDynamoDbPrefix);
  return target.append(operation);
}

}  // namespace stator::protocol
