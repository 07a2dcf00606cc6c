// SPDX-License-Identifier: Apache-2.0
// Feed: the posts of the authors that a user follows, newest first. A feed contains one item per
// post, so reading needs no additional index. A post appears in its author's own feed at once;
// workers copy it to the followers' feeds. Posts of authors with too many followers are not copied:
// reading a follower's feed merges them in.
//
// Guarantees: an acknowledged publish is durable and in the author's own feed. Each follower's feed
// gets it effectively once, even if workers crash, as long as some worker runs again. The author's
// own item is the outbox, and a post has the same key in every feed, so delivering it twice changes
// nothing. Edits and retractions reach every feed that the post has reached, including those of
// users who have unfollowed since. Every write of a post depends on its version, so a late or
// repeated request cannot undo an edit or a retraction. A retracted post leaves a tombstone in each
// feed for `keep_retracted`, and a trimmed post in its feed, so a repeated publish in that time
// does not restore the post.
// Not guaranteed: a follow() that timed out can take effect after a later unfollow() or trim().
// Visibility: reads are consistent unless FeedOptions::consistent_reads is false.
// Thread safety: any thread can call every method; any number of processes can deliver.
// Lifetime: borrows the client and the time source.
// Errors: kInvalidArgument, kInFuture, kNotFound, kConflict, kLimitsDisagree, kBadCursor,
// kCancelled, and the client's.
// Layout: docs/formats/recipes.md.
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
  // 1 to 1,024 bytes of UTF-8. Must not begin with FORMER#, SENT#, SETTINGS#, or the merged_prefix
  // or stream_prefix of the options.
  std::string text;
  auto operator<=>(const UserId&) const = default;
};

// A UUID of version 7: a time in microseconds and 62 random bits. It determines a post's position
// in every feed and is the idempotency key of publish().
class PostId {
 public:
  PostId() = default;  // nil: not the id of a post
  static PostId make(Time at);
  // Derives the id from the time and a key of the caller: equal arguments give equal ids.
  static PostId make(Time at, std::string_view key);
  // Errors: kInvalidArgument for anything but a UUID of version 7.
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
  PostId id;      // nil for items that another program wrote to a kNewestFirst table
  UserId author;  // empty for such items
  std::string content;
  Time at;
  int64_t edits = 0;  // how often the author has replaced the content
  bool operator==(const Post&) const = default;
};

enum class FeedLayout {
  kOrdered,      // range_key S: time and post id, read in descending order
  kNewestFirst,  // range_key N: 2^63 - 1 - time, for tables that already have such keys
};

// Where workers find undelivered posts.
enum class Outbox {
  kIndex,   // a sparse index: 1 more WCU per publish, edit or retraction, and 1 more per delivery
  kStream,  // the table's stream, with new and old images: no index and no additional writes. The
            // stream also contains every copy. A worker must run at least daily; if records have
            // expired unread, it scans the table for undelivered posts
  kNone,    // no delivery, posts are only in their authors' own feeds: 1 WCU per publish, edit or
            // retraction. Within about a minute after a worker has run for the table and the
            // user_prefix, or a publisher has used several shards, these return kLimitsDisagree
};

// The followers of authors. Implement it if they are stored outside the followers table.
// Thread safety: workers and reads call it from any thread, concurrently, with no locks held.
class Followers {
 public:
  virtual ~Followers() = default;
  // Returns followers of `author` in a stable order, starting after `cursor` (empty: at the first).
  virtual Result<Page<UserId>> page(const UserId& author, int limit, const std::string& cursor) = 0;
  // Returns the authors that `user` follows, likewise. Called only if feeds of the table are
  // merged.
  virtual Result<Page<UserId>> following(const UserId& user, int limit,
                                         const std::string& cursor) = 0;
};

// FeedBus: notifies workers of posts in the outbox. The outbox stays authoritative: a lost
// announcement costs time, a repeated one costs a request.
// Thread safety: any thread.
struct Announcement {
  UserId author;
  PostId id;
  std::function<void()> done;  // acknowledges it; otherwise it is delivered again
};
class FeedBus {
 public:
  virtual ~FeedBus() = default;
  virtual Result<void> announce(const UserId& author, const PostId& id) = 0;
  // Waits up to `wait` for announcements and returns up to `most` (1 to 100), possibly none. Each
  // announcement is delivered to one worker.
  virtual Result<std::vector<Announcement>> take(int most, std::chrono::milliseconds wait) = 0;
};

// A post whose delivery failed. The worker retries it later and continues with other posts.
struct Undelivered {
  UserId author;
  PostId id;  // nil if the outbox contains an item that is not a post
  Error error;
  int64_t attempts = 0;  // consecutive failures in this worker
  std::chrono::nanoseconds next_attempt{0};
};

struct FeedOptions {
  std::string table;
  FeedLayout layout = FeedLayout::kOrdered;
  // Delivery needs one of the next two; publishing needs neither.
  std::string followers_table = {};                // a table that the feed maintains
  std::shared_ptr<Followers> followers = nullptr;  // instead of that table
  std::shared_ptr<FeedBus> bus = nullptr;          // wakes workers; without it they poll
  // How often a worker with a bus also polls the outbox, in case announcements are lost, and how
  // often a worker with Outbox::kStream checks for new shards.
  std::chrono::milliseconds sweep{30'000};
  // How long a worker's claim on a post lasts.
  std::chrono::milliseconds claim{30'000};
  int parallel_writes = 8;  // concurrent requests that write copies of one post, 1 to 64
  // Called for each failed delivery, on the worker's thread, with no locks held.
  std::function<void(const Undelivered&)> on_undelivered = {};
  // How long tombstones are kept, 1 hour to 3,650 days. Choose a time longer than publishers repeat
  // a publish of one post id and longer than a request can be in flight.
  std::chrono::seconds keep_retracted = std::chrono::days(30);
  // Posts of authors with more followers than this (up to 100,000) are not copied to each follower.
  // They are merged when feeds are read: each read then takes one more query for the authors that
  // the user follows, and one for each such author. 0: this worker merges none. The table stores
  // that some worker merges, so readers can have 0: they read that about once a minute. Posts of
  // the first 15 minutes after that was stored are copied. A followers table needs the index of
  // table_definitions().
  int merge_over = 0;
  // How often each Feed reads the list of those authors, which is 17 items of up to 400 KB. Until
  // the next refresh, reads can lack posts of authors that were added: the pages before it then
  // skip such posts, and the pages after it do not. 0: before every read.
  std::chrono::milliseconds merged_refresh{10'000};
  bool consistent_reads = true;  // false: half the RCUs, but a user's own post can appear late
  std::chrono::nanoseconds max_skew = std::chrono::minutes(10);
  Outbox outbox = Outbox::kIndex;
  // 1 to 64 index partitions of undelivered posts. The table stores the highest number that any
  // program uses, and workers read all of them; they notice a higher one within a minute.
  int outbox_shards = 1;
  std::string cursor_key = {};  // secret that signs cursors; set it to share cursors between hosts
  // Names of the table's key attributes and index. `user_prefix` precedes a user's id in the
  // partition key, so that the table can also store other entities or other feeds.
  std::string partition_key = "partition_key";  // S
  std::string range_key = "range_key";          // S or N, see layout
  std::string outbox_index = "Outbox";
  std::string user_prefix = {};           // up to 512 bytes
  std::string merged_prefix = "MERGED#";  // of partitions of merged posts; 1 to 512 bytes
  std::string stream_prefix = "STREAM#";  // of shard positions of Outbox::kStream; 1 to 512 bytes
  RetryPolicy retry = {};
  TimeSource* time = nullptr;  // null: system_time()
};

struct Published {
  PostId id;
  bool created = true;  // false: an earlier call published the post with this id
};

struct Delivered {
  int64_t posts = 0;    // delivered to all followers, or retracted from their feeds
  int64_t copies = 0;   // items written to feeds, including tombstones
  int64_t batches = 0;  // requests that wrote them
};

class Feed {
 public:
  Feed(Client& client, FeedOptions options);

  // Publishes a post with one conditional put (1 WCU, and 1 for the outbox index if there is one).
  // Without an id, each call creates a new post, ordered after the object's previous one. To retry
  // safely, make the id first and pass it to each attempt. With the id of an earlier post, nothing
  // is published and `created` is false; if that post was retracted or trimmed, this holds for
  // `keep_retracted`. An id must not be that of another
  // author's post: a feed keeps only the first of the two. If the clock is set back by up to
  // max_skew, new posts continue the earlier times; if it is set back further, they take the new
  // time and appear below older posts. `content`: up to 350,000 bytes of UTF-8.
  // Errors: kConflict if the id was published with other content; kInFuture if its time is beyond
  // max_skew; kLimitsDisagree, also of edit() and retract(), for Outbox::kNone if workers deliver.
  Result<Published> publish(const UserId& author, std::string_view content,
                            std::optional<PostId> id = {}) const;

  // Replaces the content of an author's post; its position stays. The change is in the author's own
  // feed at once; workers deliver it to the followers. Takes one request and 1 WCU (and 1 for the
  // index); a post that was edited before takes one more of each.
  // Errors: kNotFound if the author has no such post; kTransactionConflict, which is retryable, if
  // concurrent edits persist.
  Result<void> edit(const UserId& author, const PostId& id, std::string_view content) const;

  // Retracts an author's post: from the author's own feed at once; workers deliver the retraction
  // to the followers. Each feed keeps a tombstone until time to live deletes it after
  // `keep_retracted`. Reads consume capacity for tombstones but do not return them.
  // Errors: kNotFound if the author has no such post.
  Result<void> retract(const UserId& author, const PostId& id) const;

  // Returns the newest `count` (1 to 1,000) posts of a user's feed that follow the cursor. Pages
  // neither skip nor repeat posts that exist throughout, except as `merged_refresh` says.
  // Errors: kInvalidArgument without followers if the table lists merged authors.
  Result<Page<Post>> read(const UserId& user, int count, const std::string& cursor = {}) const;

  // Deletes all but the newest `keep` (0 or more) posts of a user's feed and returns the number of
  // deleted posts. Posts that are merged when the feed is read are not in it; the user's own
  // undelivered posts are kept. An author cannot edit or retract a post after trimming it. Each
  // deletion costs 1 WCU and leaves a tombstone for `keep_retracted`: in that time, neither edits
  // nor late or repeated requests, such as publish() with the same id, bring the post back. Only
  // the backfill of follow() does.
  Result<int64_t> trim(const UserId& user, int keep, const std::stop_token& stop = {}) const;

  // Maintain the followers table. A new follower gets later posts. Before follow() returns, it also
  // copies the author's newest `backfill` (0 to 1,000) posts, in transactions that are safe against
  // concurrent edits and retractions (4 WCU per post). unfollow() (a read and 2 WCU) keeps the
  // copied posts, and keeps a row so that edits and retractions still reach them. Posts of a merged
  // author disappear at once.
  // Errors: kInvalidArgument without a followers table, or if `user` is `author`;
  // kTransactionConflict, which is retryable, if concurrent changes of the relation persist.
  Result<void> follow(const UserId& user, const UserId& author, int backfill = 0) const;
  Result<void> unfollow(const UserId& user, const UserId& author) const;
  Result<Page<UserId>> followers(const UserId& author, const PageOptions& page = {}) const;

  // Delivers the posts in the outbox, except those that another worker has claimed. Writes one copy
  // per follower, with `parallel_writes` concurrent requests. New posts use BatchExecuteStatement,
  // 25 copies per request (PutItem if the endpoint does not support it). Edits and retractions use
  // one PutItem per copy, including those of former followers. If the followers are stored
  // elsewhere, their ids are written to the table first, in a transaction that checks the post:
  // 2 WCU per KB of both. A post that fails does not stop the others; the first error is returned
  // at the end. Only if several posts in a row cannot even be claimed, the endpoint counts as
  // unreachable, and the call ends.
  // Errors: kCancelled (delivered copies stay, and the next call resumes); kInvalidArgument without
  // followers.
  Result<Delivered> deliver_pending(const std::stop_token& stop = {}) const;

  // Runs deliver_pending() until `stop`, with pauses of `idle` while the outbox is empty; with a
  // bus, delivers the announced posts. Waits if the outbox cannot be read, or several posts in a
  // row cannot be claimed, because requests are throttled or the endpoint is unreachable; polls the
  // outbox while the bus is unreachable. Reports a post that fails to `on_undelivered` and retries
  // it after 1 s, then after twice as long each time, up to 5 min. After ten failed retries, it
  // looks for new posts before the next retry.
  // Errors of reading the outbox, such as a missing table, end the call.
  Result<Delivered> run_worker(
      const std::stop_token& stop,
      std::chrono::milliseconds idle = std::chrono::milliseconds(200)) const;

  // The table definitions for these options, on demand. The first is the feed's, with its keys and
  // the outbox's sparse index or the stream. The second, if `followers_table` is set, stores the
  // followers; it has the index `Following` if `merge_over` is set.
  static std::vector<RecipeTable> table_definitions(const FeedOptions& options);

 private:
  std::shared_ptr<const recipes::FeedState> state_;
};

}  // namespace stator
