// SPDX-License-Identifier: Apache-2.0
// SHA-256 and HMAC-SHA256 (RFC 2104). Both return 32 bytes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace stator {

// The hash of the concatenated texts.
std::string sha256(std::initializer_list<std::string_view> texts);
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace stator
