// SPDX-License-Identifier: Apache-2.0
// Unpredictable bytes and UUIDs, from the operating system's generator.
#pragma once

#include <cstddef>
#include <string>

namespace stator {

std::string random_bytes(std::size_t count);
std::string random_uuid();  // version 4, lower case, with hyphens

}  // namespace stator
