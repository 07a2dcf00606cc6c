// SPDX-License-Identifier: Apache-2.0
// A post's place in every feed: the one-to-one match of post ids and range keys.
#pragma once

#include <optional>
#include <string>

#include "stator/recipes/feed.h"

namespace stator {

class PostKeys {
 public:
  // kOrdered: 18 digits of microseconds since 1970, `#`, the id: sorts as the ids do.
  // kNewestFirst: (2^63 - 1 - nanoseconds) + (10^19 - 1 - random bits) / 10^19, 38 digits: sorts
  // against the ids, unique as they are, and among the whole numbers that others have written it
  // stands where its time belongs.
  // kInvalidArgument for an id of no time that the layout can hold.
  static Result<AttributeValue> range_key(FeedLayout layout, const PostId& id);

  struct Place {
    PostId id;  // nil for a key that others have written
    Time at;
  };
  static std::optional<Place> place_of(const AttributeValue& range_key);

  static PostId id_of(uint64_t unix_ms, uint32_t fraction, uint64_t random);
};

}  // namespace stator
