// SPDX-License-Identifier: Apache-2.0
// Signature Version 4 for prepared requests.
#pragma once

#include <string>
#include <string_view>

namespace stator::bench {

inline constexpr std::string_view kAccessKey = "BENCH";
inline constexpr std::string_view kSecretKey = "secret-of-the-benchmark";

// A POST of one operation to `host`, signed now and valid for 15 minutes.
std::string signed_request(std::string_view host, std::string_view operation,
                           std::string_view body);

}  // namespace stator::bench
