// SPDX-License-Identifier: Apache-2.0
#include "recipes/feed/feed_stream.h"

#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/common/stop_limit.h"

namespace stator::recipes {
namespace {

constexpr int64_t kRecordsAPage = 200;
constexpr int64_t kNotedAfter = 1'000;     // records without a post
constexpr int64_t kKeptSeconds = 172'800;  // twice the lifetime of stream records
constexpr const char* kFromTheFirst = "0";
// A worker's own writes appear in the stream too. Without a pause, it would read them without end.
constexpr std::chrono::seconds kRest{1};

// Compares decimal sequence numbers, which never become shorter.
bool is_after(const std::string& number, const std::string& other) {
  return number.size() != other.size() ? number.size() > other.size() : number > other;
}

// Compares what publishing, editing and retracting a post change.
bool is_same_state(const Item& image, const Item& other) {
  return image.contains("outbox") == other.contains("outbox") &&
         image.contains("retracted") == other.contains("retracted") &&
         int64_in(image, "edits") == int64_in(other, "edits");
}

}  // namespace

FeedStream::FeedStream(const FeedState& state, std::stop_token stop)
    : state_(state), options_(state.options), stop_(std::move(stop)), claim_(random_uuid()) {}

Result<bool> FeedStream::read_shards(Delivery& delivery) {
  if (state_.time.since_boot() >= next_search_) STATOR_RETURN_IF_ERROR(find_shards());
  STATOR_RETURN_IF_ERROR(store_held_positions(delivery));
  bool found = false;
  for (auto& [shard, reading] : readings_) {
    if (stop_.stop_requested()) return fail(Code::kCancelled, "stopped while delivering");
    if (!is_readable(reading)) continue;
    STATOR_ASSIGN_OR_RETURN(const bool more, read_shard(shard, reading, delivery));
    if (!more && reading.iterator.empty()) reading.rests_until = state_.time.since_boot() + kRest;
    found = found || more;
  }
  return found;
}

// If no post is postponed any more, stores the positions up to which everything is done.
Result<void> FeedStream::store_held_positions(Delivery& delivery) {
  if (delivery.has_put_off()) return {};
  for (auto& [shard, reading] : readings_) {
    if (!reading.held) continue;
    STATOR_ASSIGN_OR_RETURN(const std::optional<Item> mine, claim(shard));
    if (!mine) continue;
    reading.held.reset();
    reading.ended = reading.finished;
    STATOR_RETURN_IF_ERROR(store_position(shard, reading, false));
  }
  return {};
}

Result<void> FeedStream::find_shards() {
  STATOR_ASSIGN_OR_RETURN(const DescribeTableResult described,
                          with_retries(options_.retry, state_.time, stop_, [&] {
                            return state_.client.describe_table({.table = options_.table});
                          }));
  const TableDescription& table = described.table;
  if (!table.stream || !table.latest_stream_arn ||
      table.stream->view != StreamViewType::kNewAndOldImages) {
    return fail(Code::kConflict,
                "the table " + options_.table + " has no stream of new and old images");
  }
  if (stream_ != *table.latest_stream_arn) readings_.clear();
  stream_ = *table.latest_stream_arn;
  std::map<std::string, Reading> listed;
  DescribeStreamRequest request{.stream = stream_};
  do {
    STATOR_ASSIGN_OR_RETURN(DescribeStreamResult page,
                            with_retries(options_.retry, state_.time, stop_,
                                         [&] { return state_.client.describe_stream(request); }));
    for (Shard& shard : page.stream.shards) {
      listed.emplace(std::move(shard.id), Reading{.parent = std::move(shard.parent)});
    }
    request.exclusive_start_shard = std::move(page.stream.last_evaluated_shard);
  } while (request.exclusive_start_shard);
  for (auto& [shard, reading] : listed) {
    if (const auto known = readings_.find(shard); known != readings_.end()) {
      reading = std::move(known->second);
      continue;
    }
    STATOR_ASSIGN_OR_RETURN(const std::optional<Item> item, stored(shard));
    if (!item) continue;
    if (const std::string* read_to = text_in(*item, "read_to")) reading.read_to = *read_to;
    reading.ended = reading.finished = item->contains("ended");
  }
  readings_ = std::move(listed);
  next_search_ = state_.time.since_boot() + options_.sweep;
  return {};
}

Result<std::optional<Item>> FeedStream::stored(std::string_view shard) {
  const GetItemRequest get{
      .table = options_.table, .key = state_.shard_key(shard), .consistent_read = true};
  STATOR_ASSIGN_OR_RETURN(GetItemResult found,
                          with_retries(options_.retry, state_.time, stop_,
                                       [&] { return state_.client.get_item(get); }));
  return std::move(found.item);
}

bool FeedStream::is_readable(const Reading& reading) const {
  if (reading.finished || state_.time.since_boot() < reading.rests_until) return false;
  const auto parent = reading.parent ? readings_.find(*reading.parent) : readings_.end();
  return parent == readings_.end() || parent->second.finished;
}

Result<bool> FeedStream::read_shard(const std::string& shard, Reading& reading,
                                    Delivery& delivery) {
  if (reading.read_to.empty()) {
    STATOR_ASSIGN_OR_RETURN(const bool begun, begin(shard, reading, delivery));
    if (!begun) return false;
  }
  auto page = next_page(shard, reading);
  if (!page) {
    reading.iterator.clear();
    switch (page.error().code) {
      case Code::kExpiredIterator:
        return true;
      case Code::kTrimmedDataAccess:
        reading.is_behind_gap = true;
        reading.read_to.clear();
        return true;
      case Code::kResourceNotFound:  // the shard has expired
        next_search_ = {};
        return false;
      default:
        return failure_of(std::move(page));
    }
  }
  const auto count = static_cast<int64_t>(page->records.size());
  const bool has_post = std::ranges::any_of(
      page->records, [&](const StreamRecord& record) { return tells_of_post(record); });
  if (has_post || !page->next_iterator || reading.passed + count > kNotedAfter) {
    return deliver_page(shard, reading, *std::move(page), delivery);
  }
  reading.passed += count;
  reading.iterator = *std::move(page->next_iterator);
  if (count > 0) reading.read_to = page->records.back().sequence_number;
  return count > 0;
}

// Claims the shard and finds its start position. Returns whether the shard can be read.
Result<bool> FeedStream::begin(const std::string& shard, Reading& reading, Delivery& delivery) {
  if (state_.time.since_boot() < next_scan_) return false;
  STATOR_ASSIGN_OR_RETURN(const std::optional<Item> mine, claim(shard));
  if (!mine) return false;
  const std::string* read_to = text_in(*mine, "read_to");
  if (read_to != nullptr && !reading.is_behind_gap) {
    reading.read_to = *read_to;
    reading.ended = reading.finished = mine->contains("ended");
    STATOR_RETURN_IF_ERROR(store_position(shard, reading, false));
    return !reading.ended;
  }
  bool follows_on = false;
  if (reading.parent && !reading.is_behind_gap) {
    auto parent = stored(*reading.parent);
    if (!parent) {
      state_.release(state_.shard_key(shard), claim_);
      return failure_of(std::move(parent));
    }
    follows_on = *parent && (*parent)->contains("ended");
  }
  if (!follows_on && state_.time.since_boot() >= covered_until_) {
    const std::chrono::nanoseconds now = state_.time.since_boot();
    auto delivered = deliver_all(reading, delivery);
    if (!delivered || !*delivered) {
      next_scan_ = now + options_.claim;
      reading.read_to.clear();
      STATOR_RETURN_IF_ERROR(store_position(shard, reading, false));
      return delivered;
    }
    covered_until_ = now + options_.sweep;
  }
  reading.is_behind_gap = false;
  reading.read_to = kFromTheFirst;
  return store_position(shard, reading, false);
}

Result<GetRecordsResult> FeedStream::next_page(const std::string& shard, Reading& reading) {
  if (reading.iterator.empty()) {
    GetShardIteratorRequest start{.stream = stream_, .shard = shard};
    if (reading.read_to != kFromTheFirst) {
      start.type = ShardIteratorType::kAfterSequenceNumber;
      start.sequence_number = reading.read_to;
    }
    STATOR_ASSIGN_OR_RETURN(GetShardIteratorResult found,
                            with_retries(options_.retry, state_.time, stop_,
                                         [&] { return state_.client.get_shard_iterator(start); }));
    reading.iterator = std::move(found.iterator);
  }
  return with_retries(options_.retry, state_.time, stop_, [&] {
    return state_.client.get_records({.iterator = reading.iterator, .limit = kRecordsAPage});
  });
}

// Delivers the posts in a page of records and stores the position, even if an error occurs.
Result<bool> FeedStream::deliver_page(const std::string& shard, Reading& reading,
                                      GetRecordsResult page, Delivery& delivery) {
  reading.iterator.clear();
  STATOR_ASSIGN_OR_RETURN(const std::optional<Item> mine, claim(shard));
  if (!mine) return false;
  // Another worker might have advanced the position, even past this page.
  const std::string* read_to = text_in(*mine, "read_to");
  const bool was_first = read_to == nullptr || !is_after(*read_to, reading.read_to);
  if (!was_first) reading.read_to = *read_to;
  auto all = deliver(page.records, shard, reading, delivery);
  reading.finished = mine->contains("ended") || (all && *all && !page.next_iterator);
  reading.ended = reading.finished && !reading.held;
  auto still_mine = store_position(shard, reading, false);
  if (!all || !still_mine || !*still_mine) {
    reading.finished = reading.ended = false;
    return all ? std::move(still_mine) : std::move(all);
  }
  reading.passed = 0;
  if (reading.finished) {
    next_search_ = {};
  } else if (*all && was_first) {
    reading.iterator = *std::move(page.next_iterator);
  }
  return all;
}

// Delivers the posts in the records and advances reading.read_to. Returns false at the first post
// that another worker has claimed, or if the claim of the shard was lost.
Result<bool> FeedStream::deliver(const std::vector<StreamRecord>& records, const std::string& shard,
                                 Reading& reading, Delivery& delivery) {
  for (const StreamRecord& record : records) {
    if (!is_after(record.sequence_number, reading.read_to)) continue;
    if (tells_of_post(record)) {
      STATOR_ASSIGN_OR_RETURN(const Delivery::Outcome outcome, delivery.deliver(record.keys));
      if (outcome == Delivery::Outcome::kBusy) return false;
      if (outcome == Delivery::Outcome::kPutOff && !reading.held) reading.held = reading.read_to;
    }
    reading.read_to = record.sequence_number;
    if (state_.time.since_boot() >= next_renewal_) {
      STATOR_ASSIGN_OR_RETURN(const bool still_mine, store_position(shard, reading, true));
      if (!still_mine) return false;
    }
  }
  return true;
}

// Delivers all posts in the outbox. Returns false if another worker has claimed any of them.
Result<bool> FeedStream::deliver_all(Reading& reading, Delivery& delivery) {
  ScanRequest request{.table = options_.table,
                      .filter = "begins_with(outbox, :outbox)",
                      .values = Values{{":outbox", state_.outbox_prefix()}},
                      .consistent_read = true};
  bool all = true;
  do {
    STATOR_ASSIGN_OR_RETURN(PageResult page, with_retries(options_.retry, state_.time, stop_, [&] {
                              return state_.client.scan(request);
                            }));
    for (const Item& post : page.items) {
      STATOR_ASSIGN_OR_RETURN(const Delivery::Outcome outcome, delivery.deliver(post));
      all = all && outcome != Delivery::Outcome::kBusy;
      if (outcome == Delivery::Outcome::kPutOff) reading.held = std::string();
    }
    request.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (request.exclusive_start_key);
  return all;
}

// Whether the record shows that a post was published, edited or retracted; deliveries also change
// posts.
bool FeedStream::tells_of_post(const StreamRecord& record) const {
  if (!record.new_image) return false;
  const std::string* outbox = text_in(*record.new_image, "outbox");
  return outbox != nullptr && outbox->starts_with(state_.outbox_prefix()) &&
         (!record.old_image || !is_same_state(*record.new_image, *record.old_image));
}

Result<std::optional<Item>> FeedStream::claim(const std::string& shard) {
  const int64_t now = state_.now_ms();
  UpdateItemRequest take{.table = options_.table,
                         .key = state_.shard_key(shard),
                         .update = "SET claim = :mine, claim_until = :until, expires_at = :expiry",
                         .condition = kClaimIsFree,
                         .values = state_.claim_values(claim_),
                         .return_values = ReturnValues::kAllNew};
  take.values->emplace(":expiry", now / 1000 + kKeptSeconds);
  next_renewal_ = state_.time.since_boot() + options_.claim / 3;
  auto taken = with_retries(options_.retry, state_.time, stop_,
                            [&] { return state_.client.update_item(take); });
  if (taken) return std::move(taken->attributes);
  if (taken.error().code == Code::kConditionalCheckFailed) return std::optional<Item>();
  state_.release(take.key, claim_);  // it might have been taken
  return failure_of(std::move(taken));
}

Result<bool> FeedStream::store_position(const std::string& shard, const Reading& reading,
                                        bool go_on) {
  const int64_t now = state_.now_ms();
  UpdateItemRequest write{
      .table = options_.table,
      .key = state_.shard_key(shard),
      .update = "SET expires_at = :expiry",
      .condition = "claim = :mine",
      .values = Values{{":mine", claim_}, {":expiry", now / 1000 + kKeptSeconds}}};
  const std::string& done_to = reading.held ? *reading.held : reading.read_to;
  if (!done_to.empty()) {
    *write.update += ", read_to = :read_to";
    write.values->emplace(":read_to", done_to);
  }
  if (reading.ended) {
    *write.update += ", ended = :yes";
    write.values->emplace(":yes", true);
  }
  if (go_on) {
    *write.update += ", claim_until = :until";
    write.values->emplace(":until", now + options_.claim.count());
    next_renewal_ = state_.time.since_boot() + options_.claim / 3;
  } else {
    *write.update += " REMOVE claim, claim_until";
  }
  // Sent even after a stop, so that the next worker need not wait.
  const AfterStop limit;
  auto written =
      with_retries(options_.retry, state_.time, [&] { return state_.client.update_item(write); });
  if (!written && written.error().code != Code::kConditionalCheckFailed) {
    return failure_of(std::move(written));
  }
  return written.has_value();
}

}  // namespace stator::recipes
