// SPDX-License-Identifier: Apache-2.0
// gzip of bodies, both ways.
//
// Thread safety: any thread; each keeps a compressor and a decompressor of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stator::server {

enum class GunzipOutcome { kDone, kTooLarge, kInvalid };

// Replaces `out`. Never holds more than `bytes_max`, whatever the text claims to unfold to; one
// member of gzip, with nothing behind it.
GunzipOutcome gunzip(std::string_view compressed, std::size_t bytes_max, std::string& out);

// The size that the last bytes of a compressed text claim, which gunzip checks.
std::size_t claimed_size(std::string_view compressed);

// Absent where there is no memory for it, or it would not be shorter.
std::optional<std::string> gzip(std::string_view text);

// Whether an Accept-Encoding takes gzip.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace stator::server
