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

}  // namespace

Result<FeedTerms> FeedSettings::terms(const FeedState& state) const {
  const auto since = state.time.since_boot();
  if (const auto kept = kept_.get(since)) return *kept;
  STATOR_ASSIGN_OR_RETURN(const Map stored, item_of(state).read());
  return *kept_.set(terms_in(stored), since);
}

Result<void> FeedSettings::raise(const FeedState& state, const FeedTerms& wanted) const {
  const auto lacks_shards = [&](const FeedTerms& terms) {
    return terms.outbox_shards < wanted.outbox_shards;
  };
  const auto lacks_merging = [&](const FeedTerms& terms) {
    return wanted.merged_from && !terms.merged_from;
  };
  STATOR_ASSIGN_OR_RETURN(const FeedTerms known, terms(state));
  if (!lacks_shards(known) && !lacks_merging(known)) return {};
  const auto since = state.time.since_boot();
  STATOR_ASSIGN_OR_RETURN(const Map stored,
                          item_of(state).change([&](const Map& current) -> Result<Map> {
                            const FeedTerms terms = terms_in(current);
                            Map added;
                            if (lacks_shards(terms)) {
                              added.emplace(kOutboxShards, wanted.outbox_shards);
                            }
                            if (lacks_merging(terms)) {
                              added.emplace(kMergedFrom, wanted.merged_from->unix_seconds());
                            }
                            return added;
                          }));
  kept_.set(terms_in(stored), since);
  return {};
}

Result<void> FeedSettings::check_publisher(const FeedState& state) const {
  const FeedOptions& options = state.options;
  if (options.outbox == Outbox::kNone) {
    STATOR_ASSIGN_OR_RETURN(const FeedTerms known, terms(state));
    if (known.outbox_shards == 0) return {};
    return fail(Code::kLimitsDisagree,
                "outbox kNone differs from the delivery by workers of the table " + options.table);
  }
  // Every worker delivers the posts of the first shard.
  if (options.outbox_shards == 1) return {};
  return raise(state, {.outbox_shards = options.outbox_shards});
}

// Workers begin to merge when every reader knows that it must. If they have merged before, earlier
// releases did, whose readers had to know.
Result<void> FeedSettings::add_worker(const FeedState& state) const {
  FeedTerms wanted{.outbox_shards = state.options.outbox_shards};
  if (state.options.merge_over > 0) {
    STATOR_ASSIGN_OR_RETURN(const FeedTerms known, terms(state));
    wanted.merged_from = known.merged_from;
    if (!wanted.merged_from) {
      STATOR_ASSIGN_OR_RETURN(const MergedAuthors::List before, state.merged_authors.list(state));
      const Time now = state.time.now();
      wanted.merged_from = before->empty() ? now + kChangeDelay : now;
    }
  }
  return raise(state, wanted);
}

Result<bool> FeedSettings::are_merged(const FeedState& state) const {
  bool merged = state.options.merge_over > 0;
  if (!merged) {
    STATOR_ASSIGN_OR_RETURN(const FeedTerms known, terms(state));
    merged = known.merged_from.has_value();
  }
  if (merged && state.followers == nullptr) {
    return invalid("followers_table", "must name the followers: feeds of this table are merged");
  }
  return merged;
}

}  // namespace stator::recipes
