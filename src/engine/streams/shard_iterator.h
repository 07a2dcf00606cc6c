// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes shard iterators, shard ids, sequence numbers and event ids.
//
// An iterator is "<stream ARN>|1|<base64>". It contains its position and a keyed hash, so that
// forged iterators are rejected. Servers keep no state for it: any process with the catalog's
// secret can decode it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/change_log/change_log.h"

namespace stator {

struct ShardIterator {
  SpaceId log = 0;
  int64_t stream_ms = 0;  // LoggedStream::created_ms
  unsigned log_partition = 0;
  uint64_t begin = 0;     // the commit version of the shard's first boundary
  uint64_t position = 0;  // the lowest possible commit version of the next record
  int64_t issued_ms = 0;
  bool operator==(const ShardIterator&) const = default;
};

// Derives the key of the functions below from the catalog's secret.
Hash128 stream_secret(const Hash128& catalog_secret);

std::string shard_iterator_text(const Hash128& secret, std::string_view stream_arn,
                                const ShardIterator& iterator);
// Absent for text that shard_iterator_text() did not return with this secret. `stream_arn` is set
// to a part of the text.
std::optional<ShardIterator> read_shard_iterator(const Hash128& secret, std::string_view text,
                                                 std::string_view& stream_arn);

// "shardId-<Unix ms of the boundary>-<8 hexadecimal digits>".
std::string shard_id(const Hash128& secret, SpaceId log, unsigned log_partition,
                     const ShardBoundary& begin);
// The time at which a shard began; absent for malformed ids.
std::optional<int64_t> shard_time(std::string_view shard_id);

// 32 hexadecimal digits, always the same for one record.
std::string event_id(const Hash128& secret, SpaceId log, uint64_t commit_version);

// 21 digits, so that they have the same order as text and as numbers.
std::string sequence_number(uint64_t commit_version);
std::optional<uint64_t> read_sequence_number(std::string_view text);

}  // namespace stator
