// SPDX-License-Identifier: Apache-2.0
// Reads the bounds as 64-bit fractions of their first bytes after the common prefix. The cuts are
// evenly spaced between them.
#include "storage/split_range.h"

#include <algorithm>

#include "base/big_endian.h"

namespace stator {
namespace {

constexpr std::size_t kFractionBytes = 8;

// The bytes of `key` from `offset` as a big-endian integer; `missing` replaces missing bytes.
uint64_t fraction(std::string_view key, std::size_t offset, uint8_t missing) {
  uint64_t value = 0;
  for (std::size_t i = offset; i < offset + kFractionBytes; ++i) {
    value = value << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : missing);
  }
  return value;
}

std::string key_at(std::string_view prefix, uint64_t value) {
  std::string key(prefix);
  append_big_endian(key, value);
  return key;
}

}  // namespace

std::vector<KeyRange> split_by_hash(const KeyRange& range, std::size_t parts) {
  std::size_t common = 0;
  while (common < range.begin.size() && common < range.end.size() &&
         range.begin[common] == range.end[common]) {
    ++common;
  }
  const std::string prefix = range.begin.substr(0, common);
  const uint64_t low = fraction(range.begin, common, 0);
  const uint64_t high = range.end.empty() ? UINT64_MAX : fraction(range.end, common, 0);
  std::vector<KeyRange> ranges;
  std::string begin = range.begin;
  for (std::size_t part = 1; part < parts; ++part) {
    __extension__ using Wide = unsigned __int128;
    const auto offset = static_cast<uint64_t>(static_cast<Wide>(high - low) * part / parts);
    std::string cut = key_at(prefix, low + offset);
    if (cut <= begin || (!range.end.empty() && cut >= range.end)) continue;
    ranges.push_back({begin, cut});
    begin = std::move(cut);
  }
  ranges.push_back({begin, range.end});
  return ranges;
}

}  // namespace stator
