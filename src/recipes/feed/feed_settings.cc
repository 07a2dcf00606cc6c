// SPDX-License-Identifier: Apache-2.0
#include "recipes/feed/feed_settings.h"

#include <algorithm>

#include "recipes/common/keys.h"
#include "recipes/feed/feed_state.h"

namespace stator::recipes {
namespace {

constexpr const char* kOutboxShards = "outbox_shards";
constexpr const char* kMergedFrom = "merged_from";  // Unix time in seconds

SettingsItem item_of(const FeedState& state) {
  const bool numbers = state.options.layout == FeedLayout::kNewestFirst;
  return {state.client,
          state.time,
          state.options.retry,
          state.options.table,
          state.key_of({kSettingsUser}, numbers ? AttributeValue(0) : AttributeValue("SETTINGS")),
          {}};
}

FeedTerms terms_in(const Map& stored) {
  FeedTerms terms{.outbox_shards = static_cast<int>(std::clamp<int64_t>(
                      int64_in(stored, kOutboxShards).value_or(0), 0, kMaxOutboxShards))};
  if (const auto from = int64_in(stored, kMergedFrom)) {
    terms.merged_from = Time{std::chrono::sys_seconds(std::chrono::seconds(*from))};
  }
  return terms;
}

Map missing_shards(const FeedOptions& options, const FeedTerms& stored) {
  if (stored.outbox_shards >= options.outbox_shards) return {};
  return {{kOutboxShards, options.outbox_shards}};
}

}  // namespace

Result<FeedTerms> FeedSettings::terms(const FeedState& state) const {
  const auto since = state.time.since_boot();
  if (const auto kept = kept_.get(since)) return *kept;
  STATOR_ASSIGN_OR_RETURN(const Map stored, item_of(state).read());
  return *kept_.set(terms_in(stored), since);
}

Result<void> FeedSettings::complete(const FeedState& state, const Missing& missing) const {
  STATOR_ASSIGN_OR_RETURN(const FeedTerms known, terms(state));
  if (missing(known).empty()) return {};
  const auto since = state.time.since_boot();
  STATOR_ASSIGN_OR_RETURN(const Map stored,
                          item_of(state).change([&](const Map& current) -> Result<Map> {
                            return missing(terms_in(current));
                          }));
  kept_.set(terms_in(stored), since);
  return {};
}

Result<void> FeedSettings::check_publisher(const FeedState& state) const {
  const FeedOptions& options = state.options;
  if (options.outbox == Outbox::kNone) {
    STATOR_ASSIGN_OR_RETURN(const FeedTerms known, terms(state));
    if (known.outbox_shards == 0) return {};
    return fail(Code::kLimitsDisagree, "outbox: must not be kNone, because posts of the table " +
                                           options.table + " are delivered to followers");
  }
  if (options.outbox_shards == 1) return {};  // every worker reads the first shard
  return complete(state, [&](const FeedTerms& stored) { return missing_shards(options, stored); });
}

// Workers begin to merge when every reader and every other worker knows about it.
Result<void> FeedSettings::add_worker(const FeedState& state) const {
  const FeedOptions& options = state.options;
  STATOR_ASSIGN_OR_RETURN(const FeedTerms known, terms(state));
  if (options.merge_over > 0 && !known.merged_from) {
    // Without the index, no feed could be read any more.
    STATOR_RETURN_IF_ERROR(state.followers->following({"nobody"}, 1, {}));
  }
  return complete(state, [&](const FeedTerms& stored) {
    Map missing = missing_shards(options, stored);
    if (options.merge_over > 0 && !stored.merged_from) {
      missing.emplace(kMergedFrom, (state.time.now() + kChangeDelay).unix_seconds());
    }
    return missing;
  });
}

}  // namespace stator::recipes
