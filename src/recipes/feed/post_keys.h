// SPDX-License-Identifier: Apache-2.0
// A post's position in every feed: the one-to-one mapping between post ids and range keys.
#pragma once

#include <optional>
#include <string>

#include "stator/recipes/feed.h"

namespace stator {

class PostKeys {
 public:
  // kOrdered: 18 digits of microseconds since 1970, `#`, the id. Sorts in the order of the ids.
  // kNewestFirst: (2^63 - 1 - nanoseconds) + (10^19 - 1 - random bits) / 10^19, 38 digits. Sorts in
  // descending order of the ids and is as unique as they are. It sorts by time among whole numbers
  // written by other programs.
  // Errors: kInvalidArgument if the layout cannot represent the id's time.
  static Result<AttributeValue> range_key(FeedLayout layout, const PostId& id);

  struct Place {
    PostId id;  // nil for a key that another program wrote
    Time at;
  };
  static std::optional<Place> place_of(const AttributeValue& range_key);

  static PostId id_of(uint64_t unix_ms, uint32_t fraction, uint64_t random);
};

}  // namespace stator
