// SPDX-License-Identifier: Apache-2.0
#include "engine/rows/older_keys.h"

namespace stator {

std::optional<std::string> older_index_row_key(const Hash128& secret, const KeyShape& table,
                                               const KeyShape& index, ItemView item) {
  auto key = index_row_prefix(secret, index, item);
  if (!key || !tie_breaker(secret, table, item)) return std::nullopt;
  for (const auto* attributes : {&table.hash, &table.range}) {
    for (const AttributeDefinition& attribute : *attributes) {
      append_key_component(*key, *item.find(attribute.name));
    }
  }
  return key;
}

std::string older_queue_row_key(SpaceId space, uint64_t time, std::string_view row_key) {
  std::string key = queue_row_key(space, time, row_key);
  key[sizeof(SpaceId)] = '\0';
  return key;
}

std::optional<QueueRow> read_older_queue_row(std::string_view key) {
  constexpr std::size_t kBoundBytes = kPartitionBytes + kQueueTimeBytes;
  if (key.size() < kBoundBytes + kPartitionBytes) return std::nullopt;
  const QueueRow row{.time = queue_time(key), .row_key = key.substr(kBoundBytes)};
  const auto space = static_cast<SpaceId>(read_big_endian(key.substr(0, sizeof(SpaceId))));
  if (key != older_queue_row_key(space, row.time, row.row_key)) return std::nullopt;
  return row;
}

}  // namespace stator
