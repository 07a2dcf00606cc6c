// SPDX-License-Identifier: Apache-2.0
#include "server/gzip.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace stator::server {
namespace {

constexpr int kLevel = 1;                    // the fastest: a response is read once
constexpr std::size_t kTrailerBytes = 8;     // a checksum and the size, modulo 2^32
constexpr std::size_t kLargestRatio = 1032;  // of deflate

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const {
    libdeflate_free_decompressor(decompressor);
  }
};
struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

// The last four bytes, in little-endian order.
std::size_t claimed_size(std::string_view compressed) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, compressed.size()); ++i) {
    size = size << 8 | static_cast<unsigned char>(compressed[compressed.size() - 1 - i]);
  }
  return size;
}

GunzipOutcome gunzip(std::string_view compressed, std::size_t bytes_max, std::string& out) {
  thread_local const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(
      libdeflate_alloc_decompressor());
  if (compressed.size() <= kTrailerBytes || decompressor == nullptr) return GunzipOutcome::kInvalid;
  const std::size_t size = claimed_size(compressed);
  if (size > compressed.size() * kLargestRatio) return GunzipOutcome::kInvalid;
  if (size > bytes_max) return GunzipOutcome::kTooLarge;
  out.resize(size);
  std::size_t taken = 0;
  std::size_t written = 0;
  const auto result =
      libdeflate_gzip_decompress_ex(decompressor.get(), compressed.data(), compressed.size(),
                                    out.data(), out.size(), &taken, &written);
  const bool whole = result == LIBDEFLATE_SUCCESS && taken == compressed.size() && written == size;
  return whole ? GunzipOutcome::kDone : GunzipOutcome::kInvalid;
}

std::optional<std::string> gzip(std::string_view text) {
  thread_local const std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor(
      libdeflate_alloc_compressor(kLevel));
  if (compressor == nullptr || text.empty()) return std::nullopt;
  std::string compressed(text.size(), '\0');
  const std::size_t size = libdeflate_gzip_compress(compressor.get(), text.data(), text.size(),
                                                    compressed.data(), compressed.size());
  if (size == 0) return std::nullopt;
  compressed.resize(size);
  compressed.shrink_to_fit();
  return compressed;
}

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const std::size_t end = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view coding = accept_encoding.substr(0, end);
    const std::size_t weight = std::min(coding.find(';'), coding.size());
    if (without_spaces(coding.substr(0, weight)) == "gzip") {
      const std::string_view quality =
          without_spaces(coding.substr(std::min(weight + 1, coding.size())));
      return quality != "q=0" && quality != "q=0.0";
    }
    accept_encoding.remove_prefix(std::min(end + 1, accept_encoding.size()));
  }
  return false;
}

}  // namespace stator::server
