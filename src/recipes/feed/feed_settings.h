// SPDX-License-Identifier: Apache-2.0
// What the programs of a feed learn from each other through one item of its table, so that
// different options neither hide posts nor leave them undelivered. No setting is ever lowered.
#pragma once

#include <optional>

#include "recipes/common/settings.h"

namespace stator::recipes {

struct FeedState;

struct FeedTerms {
  int outbox_shards = 0;  // the most that any program uses; 0: none delivers
  // Posts with times from then on can be merged. Absent: none can.
  std::optional<Time> merged_from = {};
};

// Thread safety: any thread.
class FeedSettings {
 public:
  // At most kSettingsAge old.
  Result<FeedTerms> terms(const FeedState& state) const;

  // Before each write of a publisher.
  // Errors: kLimitsDisagree for Outbox::kNone if others deliver.
  Result<void> check_publisher(const FeedState& state) const;
  // After each time that a worker has read the stream. Sends requests at most every kSettingsAge.
  Result<void> add_worker(const FeedState& state) const;

 private:
  using Missing = std::function<Map(const FeedTerms& stored)>;
  // Stores what is missing.
  Result<void> complete(const FeedState& state, const Missing& missing) const;

  mutable Aging<FeedTerms> kept_;
};

}  // namespace stator::recipes
