// SPDX-License-Identifier: Apache-2.0
// What the programs of a feed learn from each other through one item of its table, so that
// different options neither hide posts nor leave them undelivered. All settings only grow.
#pragma once

#include <memory>
#include <optional>

#include "recipes/common/settings.h"

namespace stator::recipes {

struct FeedState;

struct FeedTerms {
  int outbox_shards = 0;                 // the most that any program uses; 0: no worker has run yet
  std::optional<Time> merged_from = {};  // workers merge posts from then on; absent: none merges
};

// Thread safety: any thread.
class FeedSettings {
 public:
  // At most kSettingsAge old.
  Result<FeedTerms> terms(const FeedState& state) const;

  // Before each write of a publisher.
  // Errors: kLimitsDisagree for Outbox::kNone if a worker has run.
  Result<void> check_publisher(const FeedState& state) const;
  // Before a worker starts.
  Result<void> add_worker(const FeedState& state) const;

  // Whether feeds must be merged when they are read.
  // Errors: kInvalidArgument if the options name no followers.
  Result<bool> are_merged(const FeedState& state) const;

 private:
  // Stores at least these settings.
  Result<void> raise(const FeedState& state, const FeedTerms& wanted) const;

  mutable Aging<FeedTerms> kept_;
};

}  // namespace stator::recipes
