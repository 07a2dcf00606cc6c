// SPDX-License-Identifier: Apache-2.0
// How much memory a store may fill with blocks that it has read, where nobody said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stator {

// An eighth of `memory_bytes`, but 64 MB to 8 GB.
std::size_t cache_bytes_of(uint64_t memory_bytes);

// The memory that this process may use: the machine's, or what its control group leaves it.
uint64_t usable_memory_bytes();

// The text of a control group's memory.max: bytes, or "max". UINT64_MAX where it sets no limit.
uint64_t memory_limit_of(std::string_view text);

}  // namespace stator
