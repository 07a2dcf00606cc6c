// SPDX-License-Identifier: Apache-2.0
#include "recipes/feed/merged_authors.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "base/fnv_hash.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/feed/feed_state.h"

namespace stator::recipes {
namespace {

constexpr uint64_t kParts = 16;

uint64_t part_of(std::string_view author) {
  return fnv_hash(author) % kParts + 1;  // earlier releases wrote item 0
}

// `AUTHORS#01` to `AUTHORS#16`, or 1 to 16.
Item part_key(const FeedState& state, uint64_t part) {
  const bool numbers = state.options.layout == FeedLayout::kNewestFirst;
  return state.key_of({state.options.merged_prefix},
                      numbers ? AttributeValue(static_cast<int64_t>(part))
                              : AttributeValue(fmt::format("AUTHORS#{:02}", part)));
}

}  // namespace

Result<MergedAuthors::List> MergedAuthors::stored(const FeedState& state) {
  const FeedOptions& options = state.options;
  QueryRequest request{.table = options.table,
                       .key_condition = "#pk = :list",
                       .names = Names{{"#pk", options.partition_key}},
                       .values = Values{{":list", part_key(state, 0).at(options.partition_key)}},
                       .consistent_read = true};
  std::set<std::string> authors;
  do {
    STATOR_ASSIGN_OR_RETURN(PageResult page, with_retries(options.retry, state.time, [&] {
                              return state.client.query(request);
                            }));
    for (const Item& item : page.items) {
      const auto entry = item.find("authors");
      const auto* part = entry == item.end() ? nullptr : entry->second.get_if<StringSet>();
      if (part == nullptr) return fail(Code::kConflict, "the list of merged authors is not a set");
      authors.insert(part->elements().begin(), part->elements().end());
    }
    request.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (request.exclusive_start_key);
  return std::make_shared<const std::set<std::string>>(std::move(authors));
}

Result<MergedAuthors::List> MergedAuthors::list(const FeedState& state) {
  const std::chrono::nanoseconds now = state.time.since_boot();
  {
    const std::scoped_lock lock(mutex_);
    if (list_ && (is_refreshing_ || now < next_refresh_)) return list_;
    is_refreshing_ = true;
  }
  auto fresh = stored(state);
  const std::scoped_lock lock(mutex_);
  is_refreshing_ = false;
  if (!fresh) return fresh;
  next_refresh_ = now + state.options.merged_refresh;
  list_ = *fresh;
  return fresh;
}

Result<void> MergedAuthors::add(const FeedState& state, const UserId& author,
                                const std::stop_token& stop) {
  STATOR_ASSIGN_OR_RETURN(const List known, list(state));
  if (known->contains(author.text)) return {};
  const UpdateItemRequest add{.table = state.options.table,
                              .key = part_key(state, part_of(author.text)),
                              .update = "ADD authors :author",
                              .values = Values{{":author", StringSet{author.text}}}};
  STATOR_RETURN_IF_ERROR(with_retries(state.options.retry, state.time, stop,
                                      [&] { return state.client.update_item(add); }));
  const std::scoped_lock lock(mutex_);
  next_refresh_ = {};  // this Feed's readers see it at once
  return {};
}

}  // namespace stator::recipes
