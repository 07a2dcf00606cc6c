// SPDX-License-Identifier: Apache-2.0
// gzip compression and decompression of bodies.
//
// Thread safety: any thread; each thread has its own compressor and decompressor.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stator::server {

enum class GunzipOutcome { kDone, kTooLarge, kInvalid };

// Replaces `out`. Never allocates more than `bytes_max`, whatever size the input claims. The input
// must be one gzip member with nothing after it.
GunzipOutcome gunzip(std::string_view compressed, std::size_t bytes_max, std::string& out);

// The decompressed size according to the last bytes of the input, which gunzip() checks.
std::size_t claimed_size(std::string_view compressed);

// Absent if memory is short or the result would not be shorter.
std::optional<std::string> gzip(std::string_view text);

// Whether an Accept-Encoding header accepts gzip.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace stator::server
