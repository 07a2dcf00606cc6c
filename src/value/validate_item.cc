// SPDX-License-Identifier: Apache-2.0
// Checks bytes from disk against docs/formats/item.md: everything that encode_item() guarantees.
#include <string>

#include "value/byte_reader.h"
#include "value/encoded.h"
#include "value/key.h"

namespace stator {
namespace {

// Bounds the recursion. DynamoDB rejects values nested beyond 31 levels.
constexpr int kNestingMax = 40;

// Each check returns the error message, or null.
using Damage = const char*;

Damage check_value(std::string_view value, int depth);

Damage check_attributes(std::string_view body, int depth, uint64_t& count) {
  std::string_view last_name;
  for (count = 0; !body.empty(); ++count) {
    std::string_view name;
    std::string_view value;
    if (!take_bytes(body, name)) return "truncated attribute name";
    if (count != 0 && !(last_name < name)) return "attribute names out of order";
    if (!take_value(body, value)) return "truncated value";
    if (const Damage damage = check_value(value, depth)) return damage;
    last_name = name;
  }
  return nullptr;
}

Damage check_list(std::string_view body, int depth, uint64_t& count) {
  for (count = 0; !body.empty(); ++count) {
    std::string_view value;
    if (!take_value(body, value)) return "truncated value";
    if (const Damage damage = check_value(value, depth)) return damage;
  }
  return nullptr;
}

Damage check_set(std::string_view body, AttributeType element_type, uint64_t& count) {
  std::string_view last;
  for (count = 0; !body.empty(); ++count) {
    std::string_view bytes;
    if (!take_value(body, bytes)) return "truncated element";
    const ValueView element(bytes);
    if (element.type() != element_type) return "element of another type";
    if (const Damage damage = check_value(bytes, 0)) return damage;
    if (count != 0 && !(last < element.text())) return "elements out of order";
    last = element.text();
  }
  return nullptr;
}

Damage check_collection(ValueView value, int depth) {
  if (depth > kNestingMax) return "nested too deeply";
  std::string_view body;
  uint64_t expected = 0;
  uint64_t count = 0;
  if (!open_collection(value.bytes(), body, expected)) return "truncated collection";
  Damage damage = nullptr;
  switch (value.type()) {
    case AttributeType::kSs:
      damage = check_set(body, AttributeType::kS, count);
      break;
    case AttributeType::kNs:
      damage = check_set(body, AttributeType::kN, count);
      break;
    case AttributeType::kBs:
      damage = check_set(body, AttributeType::kB, count);
      break;
    case AttributeType::kL:
      damage = check_list(body, depth + 1, count);
      break;
    default:
      damage = check_attributes(body, depth + 1, count);
      break;
  }
  if (damage != nullptr) return damage;
  return count == expected ? nullptr : "wrong element count";
}

// `bytes` must be one whole value, as returned by take_value().
Damage check_value(std::string_view bytes, int depth) {
  const ValueView value(bytes);
  switch (value.type()) {
    case AttributeType::kS:
    case AttributeType::kB:
    case AttributeType::kNull:
      return nullptr;
    case AttributeType::kBool:
      return bytes[1] == 0 || bytes[1] == 1 ? nullptr : "bad boolean";
    case AttributeType::kN:
      return number_key_length(value.number_key()) == value.number_key().size() &&
                     !value.number_key().empty()
                 ? nullptr
                 : "bad number";
    case AttributeType::kSs:
    case AttributeType::kNs:
    case AttributeType::kBs:
    case AttributeType::kL:
    case AttributeType::kM:
      return check_collection(value, depth);
  }
  return "unknown type";
}

}  // namespace

Result<void> validate_item(std::string_view bytes) {
  if (bytes.empty()) return fail(Code::kCorruption, "damaged item: no bytes");
  if (bytes.front() != kItemVersion) {
    return fail(Code::kCorruption, "damaged item: unknown version " +
                                       std::to_string(static_cast<unsigned char>(bytes.front())));
  }
  uint64_t count = 0;
  if (const Damage damage = check_attributes(bytes.substr(1), 1, count)) {
    return fail(Code::kCorruption, std::string("damaged item: ") + damage);
  }
  return {};
}

}  // namespace stator
