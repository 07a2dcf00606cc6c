// SPDX-License-Identifier: Apache-2.0
#include "engine/rows/time_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace stator {
namespace {

// Returns the first four bits of the row key's hash.
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

std::vector<RangeRead> queue_ranges(SpaceId space, uint64_t from, uint64_t until) {
  std::vector<RangeRead> ranges;
  if (from >= until) return ranges;
  for (std::size_t prefix = 0; prefix < kQueuePrefixes; ++prefix) {
    ranges.push_back({.range = {.begin = time_bound(space, prefix, from),
                                .end = time_bound(space, prefix, until)}});
  }
  return ranges;
}

Result<QueueRead> read_queue(TransactStore& store, std::span<const RangeRead> ranges,
                             std::size_t rows_max) {
  QueueRead read;
  std::size_t last = 0;
  STATOR_RETURN_IF_ERROR(read_and_wait(
      store, {.ranges = ranges}, [&](std::size_t part, std::string_view key, std::string_view) {
        last = part;
        read.keys.emplace_back(key);
        return read.keys.size() < rows_max;
      }));
  if (read.keys.size() < rows_max) return read;
  const auto left = ranges.subspan(last);
  read.rest.assign(left.begin(), left.end());
  read.rest[0].range.begin = read.keys.back() + '\0';
  std::ranges::rotate(read.rest, read.rest.begin() + 1);
  return read;
}

}  // namespace stator
