// SPDX-License-Identifier: Apache-2.0
// Checks whether text is valid UTF-8, as JSON requires.
#pragma once

#include <string_view>

namespace stator::wire {

bool is_utf8(std::string_view text);

}  // namespace stator::wire
