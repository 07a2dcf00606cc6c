// SPDX-License-Identifier: Apache-2.0
// Cursors: where a page ended, as opaque text that is good for one question alone.
//
// base64url of: version (1), then each part as two bytes of length and the bytes, then 16 bytes of
// HMAC-SHA256 over the question and the parts. Changing any character, or asking another question,
// breaks the tag.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/result.h"

namespace stator::recipes {

// `question` is everything that the answer depends on, the page's size excepted.
struct CursorSeal {
  std::string key;  // the secret; empty: tells damage, not forgery
  std::vector<std::string> question;
};

std::string make_cursor(const CursorSeal& seal, const std::vector<std::string>& parts);
// The parts; kBadCursor unless make_cursor made it with this seal, of `count` parts.
Result<std::vector<std::string>> read_cursor(const CursorSeal& seal, std::string_view cursor,
                                             std::size_t count);

}  // namespace stator::recipes
