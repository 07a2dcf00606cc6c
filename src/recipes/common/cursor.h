// SPDX-License-Identifier: Apache-2.0
// Cursors: the end of a page, as an opaque string that is valid for one query only.
//
// base64url of: version (1), then each part as two bytes of length and the bytes, then 16 bytes of
// HMAC-SHA256 over the query and the parts. The tag does not match if any character is changed or
// if the cursor is used for another query.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/result.h"

namespace stator::recipes {

// `question` is everything that the result depends on, except the page size.
struct CursorSeal {
  std::string key;  // the secret; empty: detects damage, but not forgery
  std::vector<std::string> question;
};

std::string make_cursor(const CursorSeal& seal, const std::vector<std::string>& parts);
// Returns the parts. Errors: kBadCursor unless make_cursor() made it with this seal and `count`
// parts.
Result<std::vector<std::string>> read_cursor(const CursorSeal& seal, std::string_view cursor,
                                             std::size_t count);

}  // namespace stator::recipes
