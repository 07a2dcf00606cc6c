// SPDX-License-Identifier: Apache-2.0
// Following and unfollowing, and the backfill of a new follower.
//
// A backfilled copy could be written after its post was retracted, or with the content before an
// edit. So it is written in a transaction that checks the author's own item. Later changes are
// delivered to all followers, which then include the new one.
#include <array>
#include <span>
#include <utility>

#include "recipes/common/cursor.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/feed/feed_state.h"

namespace stator {

using namespace recipes;

namespace {

constexpr std::size_t kPostsATransaction = 50;  // of two actions each
constexpr std::size_t kBytesATransaction = 3'000'000;

class Backfill {
 public:
  Backfill(const FeedState& state, const UserId& user, const UserId& author)
      : state_(state), options_(state.options), user_(user), author_(author) {}

  Result<void> run(int wanted) {
    QueryRequest request{
        .table = options_.table,
        .key_condition = "#pk = :partition",
        .filter =
            "author = :author AND attribute_not_exists(retracted) AND "
            "(attribute_not_exists(spread) OR spread <> :merged)",
        .names = Names{{"#pk", options_.partition_key}},
        .values = Values{{":partition", state_.key_of(author_, {}).at(options_.partition_key)},
                         {":author", author_.text},
                         {":merged", kSpreadMerged}},
        .forward = options_.layout == FeedLayout::kNewestFirst,
        .consistent_read = true};
    // Skips posts whose delivery has not begun: they might be merged. Their delivery reaches the
    // user.
    STATOR_ASSIGN_OR_RETURN(const FeedTerms terms, state_.settings.terms(state_));
    if (terms.merged_from) {
      *request.filter += " AND (attribute_exists(spread) OR attribute_not_exists(outbox))";
    }
    STATOR_ASSIGN_OR_RETURN(const std::vector<Item> posts,
                            query_items(state_.client, options_.retry, state_.time,
                                        std::move(request), static_cast<std::size_t>(wanted)));
    std::size_t bytes = 0;
    std::vector<const Item*> group;
    for (const Item& post : posts) {
      const std::string* content = text_in(post, "content");
      const std::size_t size = content != nullptr ? content->size() : 0;
      if (group.size() == kPostsATransaction || bytes + size > kBytesATransaction) {
        STATOR_RETURN_IF_ERROR(copy(std::exchange(group, {})));
        bytes = 0;
      }
      bytes += size;
      group.push_back(&post);
    }
    return copy(std::move(group));
  }

 private:
  // Copies the posts in one transaction, or one by one if any of them has changed.
  Result<void> copy(std::vector<const Item*> posts) {
    if (posts.empty()) return {};
    auto written = transact(posts);
    if (written || written.error().code != Code::kTransactionCanceled) return written;
    for (const Item* post : posts) {
      std::optional<Item> current = *post;
      do {
        const std::array<const Item*, 1> alone{&*current};
        auto one = transact(alone);
        if (one) break;
        if (!condition_failed_at(one.error(), 0)) return one;
        STATOR_ASSIGN_OR_RETURN(current, still_there(*post));
      } while (current);
    }
    return {};
  }

  Result<void> transact(std::span<const Item* const> posts) {
    TransactWriteItemsRequest request;
    for (const Item* post : posts) {
      const AttributeValue& range_key = post->find(options_.range_key)->second;
      const auto edits = int64_in(*post, "edits");
      request.items.push_back(
          {.action = TransactAction::kConditionCheck,
           .table = options_.table,
           .item = state_.key_of(author_, range_key),
           .condition = edits ? "edits = :edits AND attribute_not_exists(retracted)"
                              : "attribute_exists(author) AND attribute_not_exists(edits) AND "
                                "attribute_not_exists(retracted)",
           .values = edits ? std::optional(Values{{":edits", *edits}}) : std::nullopt});
      request.items.push_back({.action = TransactAction::kPut,
                               .table = options_.table,
                               .item = state_.copy_of(*post, author_, user_)});
    }
    STATOR_RETURN_IF_ERROR(with_retries(
        options_.retry, state_.time, [&] { return state_.client.transact_write_items(request); }));
    return {};
  }

  // The current post; absent if it was deleted or retracted.
  Result<std::optional<Item>> still_there(const Item& post) {
    const GetItemRequest get{.table = options_.table,
                             .key = state_.key_of(author_, post.find(options_.range_key)->second),
                             .consistent_read = true};
    STATOR_ASSIGN_OR_RETURN(GetItemResult found, with_retries(options_.retry, state_.time, [&] {
                              return state_.client.get_item(get);
                            }));
    if (!found.item || found.item->contains("retracted")) return std::optional<Item>();
    return std::move(found.item);
  }

  const FeedState& state_;
  const FeedOptions& options_;
  const UserId& user_;
  const UserId& author_;
};

}  // namespace

Result<void> Feed::follow(const UserId& user, const UserId& author, int backfill) const {
  const FeedState& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check_options());
  STATOR_RETURN_IF_ERROR(state.check_user("user", user));
  STATOR_RETURN_IF_ERROR(state.check_user("author", author));
  if (user == author) return invalid("author", "is the user");
  if (backfill < 0 || backfill > kMaxPageLimit) return invalid("backfill", "must be 0 to 1,000");
  if (!state.table_followers)
    return invalid("followers_table", "must be set; the followers are stored elsewhere");
  STATOR_RETURN_IF_ERROR(state.table_followers->add(user, author));
  if (backfill == 0) return {};
  return Backfill(state, user, author).run(backfill);
}

Result<void> Feed::unfollow(const UserId& user, const UserId& author) const {
  const FeedState& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check_options());
  STATOR_RETURN_IF_ERROR(state.check_user("user", user));
  STATOR_RETURN_IF_ERROR(state.check_user("author", author));
  if (!state.table_followers)
    return invalid("followers_table", "must be set; the followers are stored elsewhere");
  return state.table_followers->remove(user, author);
}

Result<Page<UserId>> Feed::followers(const UserId& author, const PageOptions& page) const {
  const FeedState& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check_options());
  STATOR_RETURN_IF_ERROR(state.check_user("author", author));
  STATOR_RETURN_IF_ERROR(check_limit("limit", page.limit));
  if (state.followers == nullptr) return Page<UserId>();
  const CursorSeal seal{.key = state.options.cursor_key,
                        .question = {"followers", state.options.followers_table, author.text}};
  std::string inner;
  if (!page.cursor.empty()) {
    STATOR_ASSIGN_OR_RETURN(std::vector<std::string> parts, read_cursor(seal, page.cursor, 1));
    inner = std::move(parts[0]);
  }
  STATOR_ASSIGN_OR_RETURN(Page<UserId> found, state.followers->page(author, page.limit, inner));
  if (!found.next.empty()) found.next = make_cursor(seal, {found.next});
  return found;
}

}  // namespace stator
