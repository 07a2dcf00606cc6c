// SPDX-License-Identifier: Apache-2.0
// Two keys of one shape (one to three texts, binaries or numbers). Their bytes must have the order
// of the values, read back, be self-delimiting, and match prefixes. Any bytes as a key must be
// rejected, or must be the same when written again.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "value/key.h"

namespace {

using stator::AttributeType;
using stator::AttributeValue;

using Key = std::vector<AttributeValue>;

AttributeValue pick_value(FuzzedDataProvider& data, AttributeType type) {
  if (type == AttributeType::kN) {
    const auto digits = data.ConsumeIntegral<int64_t>();
    const auto exponent = data.ConsumeIntegralInRange<int>(-130, 106);
    const auto number =
        stator::Number::parse(std::to_string(digits) + "e" + std::to_string(exponent));
    STATOR_CHECK(number);
    return *number;
  }
  std::string bytes = data.ConsumeRandomLengthString(64);
  if (type == AttributeType::kB) return stator::Binary{std::move(bytes)};
  return bytes;
}

std::string encode(const Key& key) {
  std::string bytes;
  for (const AttributeValue& value : key) stator::append_key_component(bytes, value);
  return bytes;
}

std::string encode_views(const Key& key) {
  std::string bytes;
  for (const AttributeValue& value : key) {
    const std::string encoded = stator::encode_value(value);
    stator::append_key_component(bytes, stator::ValueView(encoded));
  }
  return bytes;
}

std::string_view bytes_of(const AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  return value.get_if<stator::Binary>()->bytes;
}

std::strong_ordering compare(const AttributeValue& a, const AttributeValue& b) {
  if (const auto* number = a.get_if<stator::Number>()) {
    return *number <=> *b.get_if<stator::Number>();
  }
  return std::lexicographical_compare_three_way(
      bytes_of(a).begin(), bytes_of(a).end(), bytes_of(b).begin(), bytes_of(b).end(),
      [](char x, char y) {
        return static_cast<unsigned char>(x) <=> static_cast<unsigned char>(y);
      });
}

std::strong_ordering compare(const Key& a, const Key& b) {
  return std::lexicographical_compare_three_way(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const auto& x, const auto& y) { return compare(x, y); });
}

void check_reads_back(std::string_view bytes, const Key& key) {
  for (const AttributeValue& value : key) {
    const auto taken = stator::take_key_component(bytes, value.type());
    STATOR_CHECK(taken && *taken == value);
  }
  STATOR_CHECK(bytes.empty());
}

// The range of a prefix contains exactly the keys that begin with it.
void check_prefix(std::string_view prefix, std::string_view bytes) {
  const std::string end = stator::prefix_end(prefix);
  STATOR_CHECK((bytes >= prefix && (end.empty() || bytes < end)) == bytes.starts_with(prefix));
}

void check_value_prefix(const AttributeValue& prefix, const AttributeValue& value) {
  std::string begin;
  stator::append_key_prefix(begin, prefix);
  const std::string bytes = encode({value});
  STATOR_CHECK(bytes.starts_with(begin) == bytes_of(value).starts_with(bytes_of(prefix)));
  check_prefix(begin, bytes);
}

void check_any_bytes(std::string_view bytes) {
  for (const AttributeType type : {AttributeType::kS, AttributeType::kN, AttributeType::kB}) {
    std::string_view rest = bytes;
    const auto value = stator::take_key_component(rest, type);
    if (!value) {
      STATOR_CHECK(rest == bytes);
      continue;
    }
    STATOR_CHECK(value->type() == type);
    STATOR_CHECK(encode({*value}) + std::string(rest) == bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  Key a;
  Key b;
  for (int parts = data.ConsumeIntegralInRange(1, 3); parts > 0; --parts) {
    const auto type =
        data.PickValueInArray({AttributeType::kS, AttributeType::kN, AttributeType::kB});
    a.push_back(pick_value(data, type));
    b.push_back(data.ConsumeBool() ? a.back() : pick_value(data, type));
    if (type != AttributeType::kN) check_value_prefix(a.back(), b.back());
  }
  const std::string key_a = encode(a);
  const std::string key_b = encode(b);
  check_reads_back(key_a, a);
  STATOR_CHECK(encode_views(a) == key_a);
  STATOR_CHECK((key_a <=> key_b) == compare(a, b));
  STATOR_CHECK(key_a == key_b || !key_b.starts_with(key_a));
  const std::string rest = data.ConsumeRemainingBytesAsString();
  check_any_bytes(rest);
  check_prefix(std::string_view(rest).substr(0, rest.size() / 2), key_a);
  check_prefix(std::string_view(key_a).substr(0, key_a.size() / 2), key_b);
  return 0;
}
