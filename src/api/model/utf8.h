// SPDX-License-Identifier: Apache-2.0
// Whether text is what JSON can carry.
#pragma once

#include <string_view>

namespace stator::wire {

bool is_utf8(std::string_view text);

}  // namespace stator::wire
