// SPDX-License-Identifier: Apache-2.0
// Reads the binary form of items piece by piece. docs/formats/item.md.
//
// No function reads beyond the given bytes, whatever they contain. For damaged bytes they return
// false or zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stator/value.h"

namespace stator {

inline constexpr char kItemVersion = 1;

// Appends a varint: base 128, least significant group first, in as few bytes as the value needs.
inline void append_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

bool take_long_varint(std::string_view& in, uint64_t& value);

// Removes a varint from the front; false if it is truncated, longer than needed or too large.
inline bool take_varint(std::string_view& in, uint64_t& value) {
  if (in.empty()) return false;
  const auto first = static_cast<unsigned char>(in.front());
  if (first >= 0x80) return take_long_varint(in, value);
  value = first;
  in.remove_prefix(1);
  return true;
}

// Removes a varint length and that many bytes.
inline bool take_bytes(std::string_view& in, std::string_view& bytes) {
  uint64_t length = 0;
  if (!take_varint(in, length) || length > in.size()) return false;
  bytes = in.substr(0, static_cast<std::size_t>(length));
  in.remove_prefix(static_cast<std::size_t>(length));
  return true;
}

// Length of the value (type byte and payload) at the front of `in`; 0 if there is no valid value.
inline std::size_t encoded_value_length(std::string_view in) {
  if (in.empty()) return 0;
  const auto type = static_cast<AttributeType>(in.front());
  if (type == AttributeType::kNull) return 1;
  if (type == AttributeType::kBool) return in.size() >= 2 ? 2 : 0;
  if (type > AttributeType::kM) return 0;
  std::string_view rest = in.substr(1);
  std::string_view payload;
  return take_bytes(rest, payload) ? in.size() - rest.size() : 0;
}

// Removes the value at the front of `in`.
inline bool take_value(std::string_view& in, std::string_view& value) {
  const std::size_t length = encoded_value_length(in);
  value = in.substr(0, length);
  in.remove_prefix(length);
  return length != 0;
}

// Extracts the elements or attributes of the collection `value`, and their stored number.
bool open_collection(std::string_view value, std::string_view& body, uint64_t& count);

}  // namespace stator
