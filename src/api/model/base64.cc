// SPDX-License-Identifier: Apache-2.0
#include "api/model/base64.h"

#include <array>
#include <cstdint>

#include "api/model/messages.h"
#include "fmt/format.h"

namespace stator::wire {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kStray = 0xFF;

constexpr std::array<uint8_t, 256> make_digits() {
  std::array<uint8_t, 256> digits{};
  digits.fill(kStray);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<uint8_t>(i);
  }
  return digits;
}
constexpr std::array<uint8_t, 256> kDigits = make_digits();

uint32_t byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}

}  // namespace

char* write_base64(char* out, std::string_view bytes) {
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t group =
        byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
    *out++ = kAlphabet[group >> 18];
    *out++ = kAlphabet[group >> 12 & 63];
    *out++ = kAlphabet[group >> 6 & 63];
    *out++ = kAlphabet[group & 63];
  }
  const std::size_t left = bytes.size() - i;
  if (left == 0) return out;
  const uint32_t group = byte_at(bytes, i) << 16 | (left == 2 ? byte_at(bytes, i + 1) << 8 : 0);
  *out++ = kAlphabet[group >> 18];
  *out++ = kAlphabet[group >> 12 & 63];
  *out++ = left == 2 ? kAlphabet[group >> 6 & 63] : '=';
  *out++ = '=';
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string text(base64_length(bytes.size()), '\0');
  write_base64(text.data(), bytes);
  return text;
}

Result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return fail(Code::kSerialization, fmt::format(messages::kBase64Length, text.size()));
  }
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::string_view digits = text.substr(0, text.size() - padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  std::size_t in_group = 0;
  for (const char c : digits) {
    const uint8_t digit = kDigits[static_cast<unsigned char>(c)];
    if (digit == kStray) {
      return fail(Code::kSerialization,
                  c == '=' ? messages::kBase64End : messages::kBase64Character);
    }
    group = group << 6 | digit;
    if (++in_group < 4) continue;
    bytes.push_back(static_cast<char>(group >> 16));
    bytes.push_back(static_cast<char>(group >> 8));
    bytes.push_back(static_cast<char>(group));
    group = 0;
    in_group = 0;
  }
  if (in_group == 0) return bytes;
  const uint32_t unused = in_group == 2 ? group & 15 : group & 3;
  if (unused != 0) return fail(Code::kSerialization, messages::kBase64End);
  if (in_group == 3) bytes.push_back(static_cast<char>(group >> 10));
  bytes.push_back(static_cast<char>(in_group == 3 ? group >> 2 : group >> 4));
  return bytes;
}

}  // namespace stator::wire
