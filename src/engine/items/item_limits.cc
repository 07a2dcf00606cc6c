// SPDX-License-Identifier: Apache-2.0
#include "engine/items/item_limits.h"

#include "api/model/messages.h"
#include "engine/errors/messages.h"
#include "expression/messages.h"

namespace stator {
namespace {

bool deeper_than(ValueView value, int levels) {
  const AttributeType type = value.type();
  if (type == AttributeType::kM) {
    if (levels == 0) return true;
    for (AttributeCursor cursor = value.attributes(); const auto attribute = cursor.next();) {
      if (deeper_than(attribute->value, levels - 1)) return true;
    }
  } else if (type == AttributeType::kL) {
    if (levels == 0) return true;
    for (ElementCursor cursor = value.elements(); const auto element = cursor.next();) {
      if (deeper_than(*element, levels - 1)) return true;
    }
  }
  return false;
}

}  // namespace

Result<void> check_updated_limits(ItemView item, std::size_t size_bytes) {
  if (size_bytes > kItemBytesMax) {
    return fail(Code::kValidation, expression::message::kUpdateTooLarge);
  }
  for (AttributeCursor cursor = item.attributes(); const auto attribute = cursor.next();) {
    if (deeper_than(attribute->value, kNestingMax)) {
      return fail(Code::kValidation, messages::kValueNestedTooDeeply);
    }
  }
  return {};
}

}  // namespace stator
