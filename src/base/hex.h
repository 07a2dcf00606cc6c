// SPDX-License-Identifier: Apache-2.0
// Lower-case hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace stator {

// Two digits per byte.
std::string hex(std::string_view bytes);

}  // namespace stator
