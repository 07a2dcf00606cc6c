// SPDX-License-Identifier: Apache-2.0
// Reading and trimming feeds.
//
// A post has the same range key in every partition, so the end of a page is a range key. Each of
// the partitions that a feed is merged from resumes there. If these partitions change between
// pages, nothing is skipped or repeated.
#include <algorithm>
#include <iterator>
#include <utility>

#include "recipes/common/cursor.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/common/stop_limit.h"
#include "recipes/feed/feed_state.h"

namespace stator {

using namespace recipes;

namespace {

const AttributeValue& range_key_of(const FeedOptions& options, const Item& item) {
  return item.find(options.range_key)->second;
}

// A query for the posts in the partition of `position`, newest first.
QueryRequest posts_in(const FeedOptions& options, const Item& position) {
  return {.table = options.table,
          .key_condition = "#pk = :user",
          .filter = "attribute_not_exists(retracted)",
          .names = Names{{"#pk", options.partition_key}},
          .values = Values{{":user", position.find(options.partition_key)->second}},
          .forward = options.layout == FeedLayout::kNewestFirst,
          .consistent_read = options.consistent_reads};
}

// The authors whom `user` follows and whose posts are, or ever were, merged.
Result<std::vector<UserId>> merged_authors(const FeedState& state, const UserId& user) {
  std::vector<UserId> followed;
  if (state.options.merge_over == 0) {
    STATOR_ASSIGN_OR_RETURN(const FeedTerms terms, state.settings.terms(state));
    if (!terms.merged_from) return followed;
  }
  STATOR_ASSIGN_OR_RETURN(const MergedAuthors::List authors, state.merged_authors.list(state));
  if (authors->empty()) return followed;
  if (state.followers == nullptr) {
    return invalid("followers_table", "must name the followers: feeds of this table are merged");
  }
  std::string cursor;
  do {
    STATOR_ASSIGN_OR_RETURN(Page<UserId> page,
                            state.followers->following(user, kMaxPageLimit, cursor));
    for (UserId& author : page.items) {
      if (authors->contains(author.text) && author != user) followed.push_back(std::move(author));
    }
    cursor = std::move(page.next);
  } while (!cursor.empty());
  return followed;
}

}  // namespace

Result<Page<Post>> Feed::read(const UserId& user, int count, const std::string& cursor) const {
  const FeedState& state = *state_;
  const FeedOptions& options = state.options;
  STATOR_RETURN_IF_ERROR(state.check_options());
  STATOR_RETURN_IF_ERROR(state.check_user("user", user));
  STATOR_RETURN_IF_ERROR(check_limit("count", count));
  const bool numbers = options.layout == FeedLayout::kNewestFirst;
  const CursorSeal seal{
      .key = options.cursor_key,
      .question = {"feed", options.table, options.user_prefix, user.text, numbers ? "N" : "S"}};
  AttributeValue after;
  if (!cursor.empty()) {
    STATOR_ASSIGN_OR_RETURN(const std::vector<std::string> parts, read_cursor(seal, cursor, 1));
    STATOR_ASSIGN_OR_RETURN(after, state.range_key_from(parts[0]));
  }
  std::vector<Item> positions{state.key_of(user, after)};
  STATOR_ASSIGN_OR_RETURN(const std::vector<UserId> authors, merged_authors(state, user));
  for (const UserId& author : authors) positions.push_back(state.merged_key_of(author, after));

  const auto wanted = static_cast<std::size_t>(count);
  std::vector<Item> found;
  for (const Item& position : positions) {
    QueryRequest request = posts_in(options, position);
    if (!cursor.empty()) request.exclusive_start_key = position;
    // One extra post shows whether more follow.
    STATOR_ASSIGN_OR_RETURN(
        std::vector<Item> part,
        query_items(state.client, options.retry, state.time, std::move(request), wanted + 1));
    std::vector<Item> merged;
    merged.reserve(found.size() + part.size());
    std::ranges::merge(found, part, std::back_inserter(merged), [&](const Item& a, const Item& b) {
      return state.is_newer(range_key_of(options, a), range_key_of(options, b));
    });
    found = std::move(merged);
  }
  if (positions.size() > 1) {
    const auto rest = std::ranges::unique(found, [&](const Item& a, const Item& b) {
      return range_key_of(options, a) == range_key_of(options, b);
    });
    found.erase(rest.begin(), rest.end());
  }
  Page<Post> page;
  const bool more = found.size() > wanted;
  if (more) found.resize(wanted);
  for (const Item& item : found) {
    STATOR_ASSIGN_OR_RETURN(Post post, state.post_of(item));
    page.items.push_back(std::move(post));
  }
  if (more) page.next = make_cursor(seal, {text_of(range_key_of(options, found.back()))});
  return page;
}

namespace {

// Replaces all but the newest `keep` posts of one partition by tombstones, so that a request that
// is repeated or late does not bring them back. Items of other programs are deleted.
class Trimming {
 public:
  Trimming(const FeedState& state, const UserId& user, const std::stop_token& stop)
      : state_(state), user_(user), stop_(stop) {}

  Result<int64_t> run(const Item& partition, int keep) {
    const FeedOptions& options = state_.options;
    QueryRequest request = posts_in(options, partition);
    request.consistent_read = true;
    request.projection = "#pk, #rk, author, outbox";
    request.names->emplace("#rk", options.range_key);
    if (keep > 0) {
      STATOR_ASSIGN_OR_RETURN(const std::vector<Item> kept,
                              query_items(state_.client, options.retry, state_.time, request,
                                          static_cast<std::size_t>(keep)));
      if (kept.size() < static_cast<std::size_t>(keep)) return 0;
      request.exclusive_start_key = key_in(kept.back());
    }
    request.limit = kMaxPageLimit;
    do {
      STATOR_ASSIGN_OR_RETURN(PageResult page, with_retries(options.retry, state_.time, stop_, [&] {
                                return state_.client.query(request);
                              }));
      for (const Item& item : page.items) STATOR_RETURN_IF_ERROR(remove(item));
      request.exclusive_start_key = std::move(page.last_evaluated_key);
    } while (request.exclusive_start_key);
    STATOR_RETURN_IF_ERROR(send());
    return removed_;
  }

 private:
  Item key_in(const Item& item) const {
    const FeedOptions& options = state_.options;
    return {*item.find(options.partition_key), *item.find(options.range_key)};
  }

  // The user's own posts can enter the outbox at any time, so their removal requires that they
  // have not.
  Result<void> remove(const Item& item) {
    const std::string* author = text_in(item, "author");
    if (author == nullptr) {
      batch_.push_back({.delete_key = key_in(item)});
    } else if (*author != user_.text) {
      batch_.push_back({.put = state_.tombstone_of({*author}, key_in(item))});
    } else {
      return item.contains("outbox") ? Result<void>() : remove_own(item);
    }
    return batch_.size() == kBatchWrites ? send() : Result<void>();
  }

  Result<void> remove_own(const Item& item) {
    PutItemRequest stone{
        .table = state_.options.table,
        .item = state_.tombstone_of(user_, key_in(item)),
        .condition =
            "author = :author AND attribute_not_exists(outbox) AND attribute_not_exists(retracted)",
        .values = Values{{":author", user_.text}}};
    stone.item.emplace("trimmed", true);  // not retracted, see Feed::retract()
    auto written = with_retries(state_.options.retry, state_.time, stop_,
                                [&] { return state_.client.put_item(stone); });
    if (written) ++removed_;
    if (written || written.error().code == Code::kConditionalCheckFailed) return {};
    return failure_of(std::move(written));
  }

  Result<void> send() {
    if (batch_.empty()) return {};
    if (stop_.stop_requested()) return fail(Code::kCancelled, "stopped while trimming");
    removed_ += static_cast<int64_t>(batch_.size());
    STATOR_RETURN_IF_ERROR(write_batch(state_.client, state_.options.retry, state_.time, stop_,
                                       state_.options.table, std::exchange(batch_, {})));
    return {};
  }

  const FeedState& state_;
  const UserId& user_;
  const std::stop_token& stop_;
  std::vector<WriteRequest> batch_;
  int64_t removed_ = 0;
};

}  // namespace

Result<int64_t> Feed::trim(const UserId& user, int keep, const std::stop_token& stop) const {
  const StopLimit limit(stop);
  const FeedState& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check_options());
  STATOR_RETURN_IF_ERROR(state.check_user("user", user));
  if (keep < 0) return invalid("keep", "must not be negative");
  return Trimming(state, user, stop).run(state.key_of(user, {}), keep);
}

}  // namespace stator
