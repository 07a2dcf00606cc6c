// SPDX-License-Identifier: Apache-2.0
// The posts that the table's stream tells of, for one worker.
//
// Every worker reads every shard whose parent has been read to its end. What holds no post for
// anybody costs no write. Where there is one, the worker claims the shard in an item of the table,
// delivers from where that item says that others have come to, and notes there how far it has come
// itself. So a worker that dies costs a shard no more than the time of a claim, and what it had not
// noted is delivered again, which changes nothing (delivery.h).
//
// A shard that begins without a parent that was read to its end, or whose unread records are gone,
// follows a gap. Then the table is scanned for posts with the attribute `outbox`, which is what the
// records of the gap came to.
//
// A post that is put off (put_off.h) does not stop the reading, only the noting: the item keeps the
// place before it until the worker has delivered it, so that a worker that comes later finds it.
//
// From one thread at a time.
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
  FeedStream(const FeedState& state, std::stop_token stop);

  // One look at each shard; false where there was nothing new, or all of that is with others.
  // kConflict where the table has no stream of new and old images.
  Result<bool> look(Delivery& delivery);

 private:
  struct Reading {
    std::optional<std::string> parent;
    std::string read_to = {};   // all up to this record is settled; empty: not begun
    std::string iterator = {};  // behind it; empty: to be asked for
    int64_t passed = 0;         // records since that was noted
    bool finished = false;      // read to its end
    bool ended = false;         // and settled, which is noted
    // The place that is noted while posts are put off: before the first of them.
    std::optional<std::string> held = {};
    bool is_behind_gap = false;
    std::chrono::nanoseconds rests_until{0};  // others are at what comes next
  };

  Result<void> find_shards();
  Result<std::optional<Item>> stored(std::string_view shard);
  bool is_readable(const Reading& reading) const;
  Result<void> note_held(Delivery& delivery);
  Result<bool> look_at(const std::string& shard, Reading& reading, Delivery& delivery);
  Result<bool> begin(const std::string& shard, Reading& reading, Delivery& delivery);
  Result<GetRecordsResult> next_page(const std::string& shard, Reading& reading);
  Result<bool> settle(const std::string& shard, Reading& reading, GetRecordsResult page,
                      Delivery& delivery);
  Result<bool> deliver(const std::vector<StreamRecord>& records, const std::string& shard,
                       Reading& reading, Delivery& delivery);
  Result<bool> deliver_all(Reading& reading, Delivery& delivery);

  bool tells_of_post(const StreamRecord& record) const;

  // The shard's item, now this worker's; absent while it is another's.
  Result<std::optional<Item>> claim(const std::string& shard);
  // False where the claim was lost meanwhile.
  Result<bool> note(const std::string& shard, const Reading& reading, bool go_on);

  const FeedState& state_;
  const FeedOptions& options_;
  std::stop_token stop_;
  std::string claim_;  // this worker's name in claims
  std::string stream_;
  std::map<std::string, Reading> readings_;   // by shard
  std::chrono::nanoseconds next_search_{0};   // for new shards
  std::chrono::nanoseconds next_renewal_{0};  // of the claim
  // A scan covers the gaps before every shard that is begun until then.
  std::chrono::nanoseconds covered_until_{0};
  std::chrono::nanoseconds next_scan_{0};  // where others were at a post that the last one found
};

}  // namespace stator::recipes
