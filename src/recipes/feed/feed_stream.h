// SPDX-License-Identifier: Apache-2.0
// FeedStream: finds posts to deliver in the table's stream, for one worker.
//
// Every worker reads every shard whose parent was read to its end. Records without a post to
// deliver cost no write. For a record with one, the worker claims the shard in an item of the
// table, resumes at the position stored there, delivers, and stores its own position. If a worker
// crashes, the shard waits until the claim expires. Posts after the stored position are delivered
// again, which changes nothing (delivery.h).
//
// A shard follows a gap if its parent was not read to its end or if unread records have expired.
// The worker then scans the table for posts with the attribute `outbox`: these are all posts that
// the missing records announced.
//
// A postponed post (put_off.h) does not stop the worker from reading, but its stored position stays
// before that post until the post is delivered, so that another worker can find it.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "recipes/feed/delivery.h"
#include "recipes/feed/feed_state.h"

namespace stator::recipes {

class FeedStream {
 public:
  // The state must outlive it.
  FeedStream(const FeedState& state, std::stop_token stop);

  // Reads each shard once. Returns false if there was nothing new, or only posts that other workers
  // have claimed. Errors: kCancelled after a stop; kConflict if the table has no stream of new and
  // old images; the client's.
  Result<bool> read_shards(Delivery& delivery);

 private:
  struct Reading {
    std::optional<std::string> parent;
    std::string read_to = {};   // everything up to this record is done; empty: not started
    std::string iterator = {};  // after it; empty: to be requested
    int64_t passed = 0;         // records since the position was stored
    bool finished = false;      // read to its end
    bool ended = false;         // finished, everything is done, and that is stored
    // The position that is stored while posts are postponed: before the first of them.
    std::optional<std::string> held = {};
    bool is_behind_gap = false;
    std::chrono::nanoseconds rests_until{0};  // no reads before; another worker has the next post
  };

  Result<void> find_shards();
  Result<std::optional<Item>> stored(std::string_view shard);
  bool is_readable(const Reading& reading) const;
  Result<void> store_held_positions(Delivery& delivery);
  Result<bool> read_shard(const std::string& shard, Reading& reading, Delivery& delivery);
  Result<bool> begin(const std::string& shard, Reading& reading, Delivery& delivery);
  Result<GetRecordsResult> next_page(const std::string& shard, Reading& reading);
  Result<bool> deliver_page(const std::string& shard, Reading& reading, GetRecordsResult page,
                            Delivery& delivery);
  Result<bool> deliver(const std::vector<StreamRecord>& records, const std::string& shard,
                       Reading& reading, Delivery& delivery);
  Result<bool> deliver_all(Reading& reading, Delivery& delivery);

  bool tells_of_post(const StreamRecord& record) const;

  // Claims the shard and returns its item; absent while another worker has claimed it.
  Result<std::optional<Item>> claim(const std::string& shard);
  // Stores the position, and renews the claim if `go_on`, otherwise gives it up. False if the claim
  // was lost.
  Result<bool> store_position(const std::string& shard, const Reading& reading, bool go_on);

  const FeedState& state_;
  const FeedOptions& options_;
  std::stop_token stop_;
  std::string claim_;  // this worker's name in claims
  std::string stream_;
  std::map<std::string, Reading> readings_;   // by shard
  std::chrono::nanoseconds next_search_{0};   // for new shards
  std::chrono::nanoseconds next_renewal_{0};  // of the claim
  // The last scan covers the gap of every shard that is started before this time.
  std::chrono::nanoseconds covered_until_{0};
  std::chrono::nanoseconds next_scan_{0};  // next scan, after one that found a claimed post
};

}  // namespace stator::recipes
