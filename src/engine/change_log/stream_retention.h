// SPDX-License-Identifier: Apache-2.0
// How long stream records are kept: kStreamRetentionMs, and up to one epoch longer on the disk,
// because epochs are erased as a whole (engine/catalog/catalog_log_maintenance.cc).
#pragma once

#include <cstdint>

namespace stator {

inline constexpr int64_t kStreamRetentionMs = 24LL * 60 * 60 * 1000;
inline constexpr int64_t kEpochMs = 4LL * 60 * 60 * 1000;  // age at which an epoch ends

}  // namespace stator
