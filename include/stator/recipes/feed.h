// SPDX-License-Identifier: Apache-2.0
// Feed: one item a user and a post, read newest first without an extra index; a post goes to its
// author's own feed at once and to the followers by delivery. The posts of authors with too many
// followers are merged into their followers' feeds when those are read.
//
// Guarantees: an acknowledged publish is durable and in the author's own feed, and each follower's
// feed gets it exactly once in effect, whichever worker dies when, as long as a worker runs again
// somewhere: the author's own item is the outbox, and a post has one key in every feed, so that
// delivering twice changes nothing. Edits and retractions reach everyone whom the post has reached,
// including those who have unfollowed since. Every write of a post depends on its version, so a
// request that arrives late, or twice, cannot undo an edit or a retraction. A retracted post leaves
// a tombstone in each feed, so that a repeated publish does not bring it back: this holds for
// `keep_retracted`. A follow() that timed out and arrives after a later unfollow() takes effect.
// Not guaranteed: a user who begins to follow after a post was edited or retracted can get it as it
// was, from a delivery that began before that and stalled, or whose request arrives late.
// Visibility: reads are consistent unless asked otherwise.
// Thread safety: every method from any thread at once; any number of processes may deliver.
// Lifetime: borrows the client and the time source.
// Errors: kInvalidArgument, kInFuture, kNotFound, kConflict, kBadCursor, kCancelled, and the
// client's. Layout: docs/formats/recipes.md.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stator/recipes/common.h"

namespace stator {

namespace recipes {
struct FeedState;
}

struct UserId {
  std::string text;  // 1 to 1,024 bytes of UTF-8
  auto operator<=>(const UserId&) const = default;
};

// A UUID of version 7: when, to the microsecond, and 62 random bits. It decides a post's place in
// every feed, and it is the idempotency key of publish.
class PostId {
 public:
  PostId() = default;  // nil: of no post
  static PostId make(Time at);
  // The same for the same time and key: for callers that have a key of their own.
  static PostId make(Time at, std::string_view key);
  // kInvalidArgument for anything that is no UUID of version 7.
  static Result<PostId> parse(std::string_view text);

  std::string text() const;
  Time at() const;  // to the microsecond
  bool is_nil() const { return bytes_ == std::array<uint8_t, 16>{}; }
  const std::array<uint8_t, 16>& bytes() const { return bytes_; }
  auto operator<=>(const PostId&) const = default;  // by time

 private:
  friend class PostKeys;
  std::array<uint8_t, 16> bytes_{};
};

struct Post {
  PostId id;      // nil for items of a kNewestFirst table that others have written
  UserId author;  // empty for those
  std::string content;
  Time at;
  int64_t edits = 0;  // how often the author has replaced the content
  bool operator==(const Post&) const = default;
};

enum class FeedLayout {
  kOrdered,      // range_key S: time and post id, ascending with age read backwards
  kNewestFirst,  // range_key N: 2^63 - 1 - time, for tables that already have such keys
};

// Where workers find the posts that are to be delivered.
enum class Outbox {
  kIndex,   // a sparse index: 1 WCU more a publish, edit or retraction, and 1 more a delivery
  kStream,  // the table's stream, of new and old images: no index, and nothing more to write. Every
            // copy passes through it too, and a worker must run each day: one that finds that
            // records are gone scans the table for what they told
  kNone,    // posts are only in their authors' own feeds: 1 WCU a publish, edit or retraction
};

// Who follows an author. Implement it where followers live elsewhere.
// Thread safety: from any thread at once.
class Followers {
 public:
  virtual ~Followers() = default;
  // Followers of `author` in a lasting order, from after `cursor` on (empty: from the first).
  virtual Result<Page<UserId>> page(const UserId& author, int limit, const std::string& cursor) = 0;
  // Whom `user` follows, likewise. Asked only where FeedOptions::merge_over is set.
  virtual Result<Page<UserId>> following(const UserId& user, int limit,
                                         const std::string& cursor) = 0;
};

// Tells workers that a post waits in the outbox. The outbox stays the truth: an announcement that
// is lost costs time, one that comes twice costs a request.
// Thread safety: from any thread at once.
struct Announcement {
  UserId author;
  PostId id;
  std::function<void()> done;  // it need not come again; without this it does
};
class FeedBus {
 public:
  virtual ~FeedBus() = default;
  virtual Result<void> announce(const UserId& author, const PostId& id) = 0;
  // Up to `most` (1 to 100) announcements, each for one of the workers, as soon as there are some;
  // none after `wait`.
  virtual Result<std::vector<Announcement>> take(int most, std::chrono::milliseconds wait) = 0;
};

// A post whose delivery failed. The worker tries it again and delivers the others meanwhile.
struct Undelivered {
  UserId author;
  PostId id;  // nil if the outbox holds an item that is not a post
  Error error;
  int64_t attempts = 0;  // of this worker, in a row
  std::chrono::nanoseconds next_attempt{0};
};

struct FeedOptions {
  std::string table;
  FeedLayout layout = FeedLayout::kOrdered;
  // Delivery needs either; publishers need neither.
  std::string followers_table = {};                // the embedded default: a table of this name
  std::shared_ptr<Followers> followers = nullptr;  // instead of that table
  std::shared_ptr<FeedBus> bus = nullptr;          // wakes workers; without it they look
  // How often a worker with a bus looks all the same, for announcements that were lost, and one
  // with Outbox::kStream for new shards.
  std::chrono::milliseconds sweep{30'000};
  // For how long a post is left to the worker that has begun with it.
  std::chrono::milliseconds claim{30'000};
  int parallel_writes = 8;  // requests at a time that write copies of one post, 1 to 64
  // Called by workers, on their threads, for each failed delivery.
  std::function<void(const Undelivered&)> on_undelivered = {};
  // How long tombstones stay: longer than anybody repeats a publish of one post id, and than a
  // request can be under way. 1 hour to 3,650 days.
  std::chrono::seconds keep_retracted = std::chrono::days(30);
  // Posts of authors with more followers than this (up to 100,000) are not copied to each follower
  // but merged when feeds are read: one query more a read for whom the user follows, and one for
  // each such author among them. 0: never. Turn it on for readers before workers; never lower it
  // to 0 again.
  int merge_over = 0;
  // How often each Feed reads the list of those authors, which is in 17 items of up to 400 KB: for
  // so long, posts of an author who is new in it can be missing from reads. 0: at every read.
  std::chrono::milliseconds merged_refresh{10'000};
  bool consistent_reads = true;  // false: half the RCUs, and one's own post may show late
  std::chrono::nanoseconds max_skew = std::chrono::minutes(10);
  Outbox outbox = Outbox::kIndex;
  int outbox_shards = 1;  // 1 to 64 index partitions of undelivered posts; may grow, never shrink
  std::string cursor_key = {};  // secret of the cursors' tags; set it to share it between hosts
  // Of the table's keys and index, where it is not the feed's own; and what stands before a user's
  // id in the partition key, so that other entities, or other feeds, can live beside it.
  std::string partition_key = "partition_key";  // S
  std::string range_key = "range_key";          // S or N, see layout
  std::string outbox_index = "Outbox";
  std::string user_prefix = {};           // up to 512 bytes
  std::string merged_prefix = "MERGED#";  // of partitions of posts to merge; 1 to 512 bytes
  std::string stream_prefix = "STREAM#";  // of what Outbox::kStream keeps of shards; 1 to 512 bytes
  RetryPolicy retry = {};
  TimeSource* time = nullptr;  // null: system_time()
};

struct Published {
  PostId id;
  bool created = true;  // false: an earlier call with this id had published it
};

struct Delivered {
  int64_t posts = 0;    // delivered to all their followers, or withdrawn from them
  int64_t copies = 0;   // items written to feeds, tombstones among them
  int64_t batches = 0;  // requests that wrote them
};

class Feed {
 public:
  Feed(Client& client, FeedOptions options);

  // One conditional put (1 WCU, and 1 of the outbox's index if there is one). Without an id each
  // call is a new post, after the object's last one; to retry safely, make the id first and pass it
  // each time. If the clock is set back, posts continue the times before up to max_skew ahead of
  // it; beyond that they take the new time and appear below older posts. An id of an earlier
  // post, retracted or not, publishes nothing: `created` is false. kConflict when that id was
  // published with other content, kInFuture when its time is beyond max_skew. An id must not be
  // that of another author's post: where both would be in one feed, the first to arrive stays.
  // Content: up to 350,000 bytes of UTF-8.
  Result<Published> publish(const UserId& author, std::string_view content,
                            std::optional<PostId> id = {}) const;

  // Replaces the content of an author's post, which keeps its place: in the author's own feed at
  // once, in the followers' by delivery. One request and 1 WCU (and 1 of the index); one of each
  // more for a post that was edited before. kNotFound when there is no such post of this author,
  // kConflict when others keep editing it.
  Result<void> edit(const UserId& author, const PostId& id, std::string_view content) const;

  // Withdraws an author's post: from the author's own feed at once, from the followers' by
  // delivery. A tombstone stays in each of them for `keep_retracted`, which time to live deletes:
  // reads count its units and do not return it. kNotFound when there is no such post of this
  // author.
  Result<void> retract(const UserId& author, const PostId& id) const;

  // The newest `count` (1 to 1,000) posts of a user's feed, from after the cursor on.
  Result<Page<Post>> read(const UserId& user, int count, const std::string& cursor = {}) const;

  // Deletes all but the newest `keep` (0 or more) posts of a user's feed, and says how many that
  // were. Posts of the user's own that wait for delivery stay. A post trimmed by its author can be
  // neither edited nor retracted. Deleting costs 1 WCU each.
  Result<int64_t> trim(const UserId& user, int keep, const std::stop_token& stop = {}) const;

  // In the followers table; kInvalidArgument where the followers live elsewhere, or of oneself.
  // A new follower gets later posts and, copied before this returns, the author's newest `backfill`
  // (0 to 1,000) posts, in transactions that are safe against edits and retractions meanwhile (4
  // WCU a post). Unfollowing (a read and 2 WCU) keeps what has been copied, and leaves a row so
  // that edits and retractions still reach it; it ends merging at once.
  Result<void> follow(const UserId& user, const UserId& author, int backfill = 0) const;
  Result<void> unfollow(const UserId& user, const UserId& author) const;
  Result<Page<UserId>> followers(const UserId& author, const PageOptions& page = {}) const;

  // Delivers every post that was in the outbox when the call came to it, those excepted that
  // another worker has begun with: one write for each follower, `parallel_writes` requests at a
  // time. A new post goes in BatchExecuteStatement, 25 copies a request (PutItem on endpoints that
  // lack it); edits and retractions go in one PutItem a copy, to former followers too. Followers
  // who live elsewhere are noted in the table first: 1 WCU per KB of their ids. Ends early with
  // kCancelled; what was delivered stays, and the next call resumes. A post that fails does not
  // stop the others: its error is returned in the end. kInvalidArgument without followers.
  Result<Delivered> deliver_pending(const std::stop_token& stop = {}) const;

  // deliver_pending again and again, `idle` apart when there was nothing, until `stop`; with a bus,
  // whatever it announces. Throttling and unreachable services are waited out, an unreachable bus
  // by looking into the outbox. A post that fails is reported to `on_undelivered` and tried again
  // after 1 s, then after twice as long each time, up to 5 min. Errors of looking into the outbox,
  // such as a missing table, end it.
  Result<Delivered> run_worker(
      const std::stop_token& stop,
      std::chrono::milliseconds idle = std::chrono::milliseconds(200)) const;

  // The tables that the options need, on demand. The first is the feed's: its keys and the sparse
  // index of the outbox, or the stream; the second, where wanted, the followers', with the index
  // `Following` where there is merging.
  static std::vector<RecipeTable> table_definitions(const FeedOptions& options);

 private:
  std::shared_ptr<const recipes::FeedState> state_;
};

}  // namespace stator
