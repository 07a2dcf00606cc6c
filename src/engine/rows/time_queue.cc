// SPDX-License-Identifier: Apache-2.0
#include "engine/rows/time_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace stator {
namespace {

// The first four bits of the hash.
std::size_t prefix_of(std::string_view row_key) {
  return static_cast<unsigned char>(row_key[sizeof(SpaceId)]) / (256 / kQueuePrefixes);
}

std::string time_bound(SpaceId space, std::size_t prefix, uint64_t time) {
  std::string key;
  append_big_endian(key, space);
  key.push_back(static_cast<char>(prefix));
  key.append(kPartitionBytes - key.size(), '\0');
  append_big_endian(key, time);
  return key;
}

}  // namespace

std::string queue_row_key(SpaceId space, uint64_t time, std::string_view row_key) {
  STATOR_CHECK(row_key.size() >= kPartitionBytes);
  return time_bound(space, prefix_of(row_key), time).append(row_key);
}

std::optional<QueueRow> read_queue_row(std::string_view key) {
  constexpr std::size_t kBoundBytes = kPartitionBytes + kQueueTimeBytes;
  if (key.size() < kBoundBytes + kPartitionBytes) return std::nullopt;
  const QueueRow row{.time = queue_time(key), .row_key = key.substr(kBoundBytes)};
  const auto space = static_cast<SpaceId>(read_big_endian(key.substr(0, sizeof(SpaceId))));
  if (!key.starts_with(time_bound(space, prefix_of(row.row_key), row.time))) return std::nullopt;
  return row;
}

uint64_t queue_time(std::string_view key) {
  return read_big_endian(key.substr(kPartitionBytes, kQueueTimeBytes));
}

ReadRequest queue_read(SpaceId space, uint64_t from, uint64_t until, std::size_t rows_max) {
  ReadRequest request{.rows_max = rows_max};
  if (from >= until) return request;
  for (std::size_t prefix = 0; prefix < kQueuePrefixes; ++prefix) {
    request.ranges.push_back({.range = {.begin = time_bound(space, prefix, from),
                                        .end = time_bound(space, prefix, until)}});
  }
  return request;
}

ReadRequest next_queue_read(ReadResult& result) {
  if (!result.rest) return {};
  ReadRequest request = std::move(*result.rest);
  std::ranges::rotate(request.ranges, request.ranges.begin() + 1);
  return request;
}

}  // namespace stator
