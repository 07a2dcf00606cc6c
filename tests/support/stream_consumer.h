// SPDX-License-Identifier: Apache-2.0
// StreamConsumer: reads a stream like the Kinesis consumers of the SDKs. It reads a shard after its
// parent, from the last sequence number that it has seen there. Its state is a map of strings, so
// that it can resume after a restart.
//
// Source is a Client, or a type with its describe_stream, get_shard_iterator and get_records.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stator/streams.h"

namespace stator::test {

template <class Source>
std::vector<Shard> all_shards(Source& source, const std::string& stream,
                              std::optional<int64_t> limit = {}) {
  std::vector<Shard> shards;
  DescribeStreamRequest request{.stream = stream, .limit = limit};
  do {
    const auto page = source.describe_stream(request);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return shards;
    shards.insert(shards.end(), page->stream.shards.begin(), page->stream.shards.end());
    request.exclusive_start_shard = page->stream.last_evaluated_shard;
  } while (request.exclusive_start_shard);
  return shards;
}

class StreamConsumer {
 public:
  struct Checkpoint {
    std::string last;       // sequence number; empty: nothing was read
    bool finished = false;  // the shard was read to its end
  };
  std::map<std::string, Checkpoint> checkpoints;  // by shard

  // Returns all unread records. The records of an item are in order.
  template <class Source>
  std::vector<StreamRecord> read(Source& source, const std::string& stream,
                                 std::optional<int64_t> limit = {}) {
    std::vector<StreamRecord> records;
    const std::vector<Shard> shards = all_shards(source, stream);
    for (std::size_t unread = shards.size(), before = unread + 1; unread < before;) {
      before = unread;
      unread = 0;
      for (const Shard& shard : shards) {
        if (checkpoints[shard.id].finished) continue;
        if (is_ready(shard, shards)) read_shard(source, stream, shard, limit, records);
        if (!checkpoints[shard.id].finished) ++unread;
      }
    }
    return records;
  }

 private:
  bool is_ready(const Shard& shard, const std::vector<Shard>& shards) {
    for (const Shard& other : shards) {
      if (other.id == shard.parent) return checkpoints[other.id].finished;
    }
    return true;
  }

  template <class Source>
  void read_shard(Source& source, const std::string& stream, const Shard& shard,
                  std::optional<int64_t> limit, std::vector<StreamRecord>& records) {
    Checkpoint& checkpoint = checkpoints[shard.id];
    GetShardIteratorRequest start{.stream = stream, .shard = shard.id};
    if (!checkpoint.last.empty()) {
      start.type = ShardIteratorType::kAfterSequenceNumber;
      start.sequence_number = checkpoint.last;
    }
    const auto started = source.get_shard_iterator(start);
    ASSERT_TRUE(started) << started.error().message;
    GetRecordsRequest request{.iterator = started->iterator, .limit = limit};
    for (;;) {
      auto page = source.get_records(request);
      ASSERT_TRUE(page) << page.error().message;
      for (StreamRecord& record : page->records) {
        EXPECT_LT(checkpoint.last, record.sequence_number) << "not in order";
        checkpoint.last = record.sequence_number;
        records.push_back(std::move(record));
      }
      checkpoint.finished = !page->next_iterator;
      EXPECT_EQ(checkpoint.finished && !shard.ending_sequence_number, false)
          << "an open shard came to an end";
      if (checkpoint.finished || page->records.empty()) return;
      request.iterator = *page->next_iterator;
    }
  }
};

// The content of a table after the changes in a stream. Each change must begin with the state that
// the previous one left.
class StreamReplay {
 public:
  void apply(const StreamRecord& record) {
    const std::string keys = to_debug_string(record.keys);
    const auto known = items_.find(keys);
    const bool same = known == items_.end() ? !record.old_image : known->second == record.old_image;
    EXPECT_TRUE(same) << "out of order, twice or lost: a change of " << keys;
    if (record.new_image) {
      items_.insert_or_assign(keys, *record.new_image);
    } else {
      items_.erase(keys);
    }
  }
  const std::map<std::string, Item>& items() const { return items_; }

 private:
  std::map<std::string, Item> items_;  // by their keys
};

}  // namespace stator::test
