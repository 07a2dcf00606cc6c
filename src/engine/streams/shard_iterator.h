// SPDX-License-Identifier: Apache-2.0
// Shard iterators, shard ids, sequence numbers and event ids as text.
//
// An iterator is "<stream ARN>|1|<base64>": what it holds, and a keyed hash of all of it, so that
// one that was not made here is recognised. It needs no state: any process that has the catalog's
// secret can read it.
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
  uint64_t begin = 0;     // the commit version of the boundary with which the shard begins
  uint64_t position = 0;  // the first commit version that may come next
  int64_t issued_ms = 0;
  bool operator==(const ShardIterator&) const = default;
};

// The key of what is below, from the catalog's secret.
Hash128 stream_secret(const Hash128& catalog_secret);

std::string shard_iterator_text(const Hash128& secret, std::string_view stream_arn,
                                const ShardIterator& iterator);
// Absent for text that was not made by the other with this secret. `stream_arn` is set to a part of
// the text.
std::optional<ShardIterator> read_shard_iterator(const Hash128& secret, std::string_view text,
                                                 std::string_view& stream_arn);

// "shardId-<Unix ms of the boundary>-<8 hexadecimal digits>".
std::string shard_id(const Hash128& secret, SpaceId log, unsigned log_partition,
                     const ShardBoundary& begin);
// When a shard began; absent for text that is no shard's id.
std::optional<int64_t> shard_time(std::string_view shard_id);

// 32 hexadecimal digits, always the same for a record.
std::string event_id(const Hash128& secret, SpaceId log, uint64_t commit_version);

// 21 digits, so that they compare as text and as numbers alike.
std::string sequence_number(uint64_t commit_version);
std::optional<uint64_t> read_sequence_number(std::string_view text);

}  // namespace stator
