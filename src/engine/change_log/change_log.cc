// SPDX-License-Identifier: Apache-2.0
#include "engine/change_log/change_log.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stator {
namespace {

constexpr char kRowVersion = 1;
constexpr char kHasBefore = 1;
constexpr char kHasAfter = 2;
constexpr char kByService = 4;
constexpr std::size_t kRecordHead = 2 + 8 + 4;     // version, flags, time, length of `before`
constexpr std::size_t kBoundaryBytes = 1 + 8 + 8;  // version, time, stream
constexpr std::size_t kRowKeyBytes = kPartitionBytes + kCommitVersionBytes;
constexpr unsigned char kBoundaryPartition = 0xff;
constexpr int64_t kClockErrorMs = 5000;  // how far clocks can set times of changes out of order

std::string partition_of(SpaceId log, unsigned char log_partition) {
  std::string key;
  key.reserve(kRowKeyBytes);
  append_big_endian(key, log);
  key.push_back(static_cast<char>(log_partition));
  key.append(kPartitionBytes - key.size(), '\0');
  return key;
}

KeyRange commit_version_range(SpaceId log, unsigned char log_partition, uint64_t from,
                              uint64_t to) {
  KeyRange range{.begin = partition_of(log, log_partition),
                 .end = partition_of(log, log_partition)};
  append_big_endian(range.begin, from);
  append_big_endian(range.end, to);
  return range;
}

Failure damaged_row(std::string_view what) {
  return fail(Code::kCorruption, "a row of a change log is damaged: " + std::string(what));
}

int64_t read_time(std::string_view bytes) {
  return static_cast<int64_t>(read_big_endian(bytes));
}

uint64_t commit_version_of(std::string_view key) {
  return read_big_endian(key.substr(kPartitionBytes));
}

// Reports whether `key` is a row key of this log partition, in any log.
bool has_form(std::string_view key, unsigned char log_partition) {
  if (key.size() != kRowKeyBytes) return false;
  const std::string_view partition = key.substr(sizeof(SpaceId), kPartitionBytes - sizeof(SpaceId));
  return static_cast<unsigned char>(partition.front()) == log_partition &&
         std::ranges::all_of(partition.substr(1), [](char c) { return c == '\0'; });
}

}  // namespace

int64_t LogDefinition::retention_ms() const {
  return std::max(streams.empty() ? 0 : kStreamRetentionMs, recovery_ms);
}

void LogDefinition::drop_unreadable_streams(int64_t now_ms) {
  std::erase_if(streams, [&](const LoggedStream& stream) { return !stream.is_readable(now_ms); });
}

unsigned log_partition_of(std::string_view item_row_key) {
  return static_cast<unsigned char>(item_row_key[sizeof(SpaceId)]) / (256 / kLogPartitions);
}

void put_change(Batch& batch, SpaceId log, std::string_view item_row_key, const Change& change) {
  const std::string_view before = change.before ? change.before->bytes() : std::string_view();
  const std::string_view after = change.after ? change.after->bytes() : std::string_view();
  std::string value;
  value.reserve(kRecordHead + before.size() + after.size());
  value.push_back(kRowVersion);
  value.push_back(static_cast<char>((change.before ? kHasBefore : 0) |
                                    (change.after ? kHasAfter : 0) |
                                    (change.by_service ? kByService : 0)));
  append_big_endian(value, static_cast<uint64_t>(change.time_ms));
  append_big_endian(value, static_cast<uint32_t>(before.size()));
  value.append(before).append(after);
  const auto log_partition = static_cast<unsigned char>(log_partition_of(item_row_key));
  batch.put_versioned(partition_of(log, log_partition), {}, std::move(value));
}

Result<Change> read_change(std::string_view key, std::string_view value) {
  const bool known = key.size() == kRowKeyBytes &&
                     static_cast<unsigned char>(key[sizeof(SpaceId)]) < kLogPartitions &&
                     has_form(key, static_cast<unsigned char>(key[sizeof(SpaceId)]));
  if (!known) return damaged_row("its key");
  if (value.size() < kRecordHead || value[0] != kRowVersion)
    return damaged_row("its version or length");
  const char flags = value[1];
  constexpr char kKnown = kHasBefore | kHasAfter | kByService;
  if ((flags & ~kKnown) != 0 || (flags & (kHasBefore | kHasAfter)) == 0)
    return damaged_row("its flags");
  const std::string_view images = value.substr(kRecordHead);
  const auto length = static_cast<std::size_t>(read_big_endian(value.substr(10, 4)));
  if (length > images.size()) return damaged_row("the length of an image");
  const auto image = [&](char flag, std::string_view bytes) -> Result<std::optional<ItemView>> {
    if ((flags & flag) == 0) {
      if (!bytes.empty()) return damaged_row("an image where there should be none");
      return std::optional<ItemView>();
    }
    STATOR_RETURN_IF_ERROR(validate_item(bytes));
    return std::optional(ItemView(bytes));
  };
  Change change{.commit_version = commit_version_of(key),
                .time_ms = read_time(value.substr(2, 8)),
                .by_service = (flags & kByService) != 0};
  STATOR_ASSIGN_OR_RETURN(change.before, image(kHasBefore, images.substr(0, length)));
  STATOR_ASSIGN_OR_RETURN(change.after, image(kHasAfter, images.substr(length)));
  return change;
}

KeyRange log_range(SpaceId log, unsigned log_partition, uint64_t from, uint64_t to) {
  return commit_version_range(log, static_cast<unsigned char>(log_partition), from, to);
}

Result<void> scan_changes(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                          uint64_t to, FunctionRef<bool(const Change&)> visit,
                          std::size_t expected_rows) {
  Result<void> read;
  STATOR_RETURN_IF_ERROR(
      view.scan({.range = log_range(log, log_partition, from, to), .expected_rows = expected_rows},
                [&](std::string_view key, std::string_view value) {
                  auto change = read_change(key, value);
                  if (!change) {
                    read = failure_of(std::move(change));
                    return false;
                  }
                  return visit(*change);
                }));
  return read;
}

void put_boundary(Batch& batch, SpaceId log, const ShardBoundary& boundary) {
  std::string value(1, kRowVersion);
  append_big_endian(value, static_cast<uint64_t>(boundary.time_ms));
  append_big_endian(value, static_cast<uint64_t>(boundary.stream_ms));
  batch.put_versioned(partition_of(log, kBoundaryPartition), {}, value);
}

KeyRange boundary_range(SpaceId log, uint64_t from, uint64_t to) {
  return commit_version_range(log, kBoundaryPartition, from, to);
}

bool is_boundary(std::string_view key) {
  return has_form(key, kBoundaryPartition);
}

Result<ShardBoundary> read_boundary(std::string_view key, std::string_view value) {
  if (!is_boundary(key)) return damaged_row("a boundary's key");
  if (value.size() != kBoundaryBytes || value[0] != kRowVersion) return damaged_row("a boundary");
  return ShardBoundary{.commit_version = commit_version_of(key),
                       .time_ms = read_time(value.substr(1, 8)),
                       .stream_ms = read_time(value.substr(9))};
}

Result<std::vector<ShardBoundary>> read_boundaries(ReadView& view, SpaceId log) {
  std::vector<ShardBoundary> boundaries;
  Result<void> read;
  STATOR_RETURN_IF_ERROR(view.scan({.range = boundary_range(log, 0)},
                                   [&](std::string_view key, std::string_view value) {
                                     auto boundary = read_boundary(key, value);
                                     if (boundary) {
                                       boundaries.push_back(*boundary);
                                     } else {
                                       read = failure_of(std::move(boundary));
                                     }
                                     return read.has_value();
                                   }));
  STATOR_RETURN_IF_ERROR(std::move(read));
  return boundaries;
}

Result<uint64_t> behind_changes(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                                uint64_t to) {
  uint64_t behind = from;
  STATOR_RETURN_IF_ERROR(view.scan({.range = log_range(log, log_partition, from, to),
                                    .direction = Direction::kBackward,
                                    .expected_rows = 1},
                                   [&](std::string_view key, std::string_view) {
                                     behind = commit_version_of(key) + 1;
                                     return false;
                                   }));
  return behind;
}

// Finds by bisection a change that is older than any clock error permits, then reads on from it.
Result<uint64_t> first_change_at(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                                 uint64_t to, int64_t time_ms) {
  uint64_t low = from;
  uint64_t high = to;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    uint64_t behind_older = low;
    STATOR_RETURN_IF_ERROR(scan_changes(
        view, log, log_partition, middle, high,
        [&](const Change& change) {
          if (change.time_ms < time_ms - kClockErrorMs) behind_older = change.commit_version + 1;
          return false;
        },
        1));
    if (behind_older > low) {
      low = behind_older;
    } else {
      high = middle;
    }
  }
  uint64_t first = to;
  STATOR_RETURN_IF_ERROR(scan_changes(view, log, log_partition, low, to, [&](const Change& change) {
    if (change.time_ms < time_ms) return true;
    first = change.commit_version;
    return false;
  }));
  return first;
}

}  // namespace stator
