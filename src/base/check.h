// SPDX-License-Identifier: Apache-2.0
// STATOR_CHECK: aborts the process if an invariant of this program is broken.
//
// Never for user input and never for bytes read from disk or the network.
#pragma once

namespace stator {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace stator

#define STATOR_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::stator::check_failed(#condition, __FILE__, __LINE__))
