// SPDX-License-Identifier: Apache-2.0
#include "engine/item_rules.h"

#include <algorithm>

#include "engine/messages.h"

namespace stator {
namespace {

std::size_t key_bytes(const AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return text->size();
  if (const auto* binary = value.get_if<Binary>()) return binary->bytes.size();
  return 1;  // a number is never too long, and never empty
}

std::size_t key_bytes(ValueView value) {
  return value.type() == AttributeType::kN ? 1 : value.text().size();
}

std::string_view kind_of(AttributeType type) {
  return type == AttributeType::kB ? "binary" : "string";
}

const AttributeValue* find(const Item& item, std::string_view name) {
  const auto found = item.find(name);
  return found == item.end() ? nullptr : &found->second;
}

std::optional<ValueView> find(ItemView item, std::string_view name) {
  return item.find(name);
}

// Attributes that are absent count nothing: an item may be in no index.
template <class Source>
Result<void> check_key_bytes(const KeyShape& shape, const Source& item) {
  const auto total = [&](const std::vector<AttributeDefinition>& attributes) {
    std::size_t bytes = 0;
    for (const AttributeDefinition& attribute : attributes) {
      if (const auto value = find(item, attribute.name)) bytes += key_bytes(*value);
    }
    return bytes;
  };
  if (total(shape.hash) > kHashKeyBytesMax) {
    return fail(Code::kValidation, messages::kHashKeyTooLong);
  }
  if (total(shape.range) > kRangeKeyBytesMax) {
    return fail(Code::kValidation, messages::kRangeKeyTooLong);
  }
  return {};
}

template <class Check>
Result<void> for_each_attribute(const KeyShape& shape, Check check) {
  for (const auto* attributes : {&shape.hash, &shape.range}) {
    for (const AttributeDefinition& attribute : *attributes) STATOR_CHECK_OK(check(attribute));
  }
  return {};
}

Result<void> check_put_index_keys(const Table& table, const Item& item) {
  for (const Index& index : table.indexes()) {
    const std::string& name = index.definition.name;
    STATOR_CHECK_OK(
        for_each_attribute(index.key, [&](const AttributeDefinition& attribute) -> Result<void> {
          const AttributeValue* value = find(item, attribute.name);
          if (value == nullptr) return {};
          const AttributeType expected = attribute_type(attribute.type);
          if (value->type() != expected) {
            return fail(Code::kValidation,
                        messages::index_key_type_mismatch(attribute.name, type_name(expected),
                                                          type_name(value->type()), name));
          }
          if (key_bytes(*value) == 0) {
            return fail(Code::kValidation,
                        messages::empty_index_key(attribute.name, kind_of(expected), name));
          }
          return {};
        }));
    STATOR_CHECK_OK(check_key_bytes(index.key, item));
  }
  return {};
}

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

Result<void> check_no_empty_key(const KeyShape& table, const Item& item) {
  return for_each_attribute(table, [&](const AttributeDefinition& attribute) -> Result<void> {
    const AttributeValue* value = find(item, attribute.name);
    if (value != nullptr && key_bytes(*value) == 0) {
      return fail(Code::kValidation, messages::empty_key(attribute.name, kind_of(value->type())));
    }
    return {};
  });
}

Result<void> check_key(const KeyShape& table, const Item& key) {
  if (key.size() != table.hash.size() + table.range.size()) {
    return fail(Code::kValidation, messages::kKeyDoesNotMatch);
  }
  STATOR_CHECK_OK(
      for_each_attribute(table, [&](const AttributeDefinition& attribute) -> Result<void> {
        const AttributeValue* value = find(key, attribute.name);
        if (value == nullptr || value->type() != attribute_type(attribute.type)) {
          return fail(Code::kValidation, messages::kKeyDoesNotMatch);
        }
        return {};
      }));
  STATOR_CHECK_OK(check_no_empty_key(table, key));
  return check_key_bytes(table, key);
}

Result<void> check_item(const Table& table, const Item& item) {
  STATOR_CHECK_OK(
      for_each_attribute(table.key(), [&](const AttributeDefinition& attribute) -> Result<void> {
        const AttributeValue* value = find(item, attribute.name);
        if (value == nullptr) {
          return fail(Code::kValidation, messages::missing_key(attribute.name));
        }
        const AttributeType expected = attribute_type(attribute.type);
        if (value->type() != expected) {
          return fail(Code::kValidation,
                      messages::key_type_mismatch(attribute.name, type_name(expected),
                                                  type_name(value->type())));
        }
        return {};
      }));
  STATOR_CHECK_OK(check_no_empty_key(table.key(), item));
  STATOR_CHECK_OK(check_key_bytes(table.key(), item));
  return check_put_index_keys(table, item);
}

Result<void> check_keys_unopened(const Table& table, const std::vector<std::string>& opened) {
  if (opened.empty()) return {};
  const auto check = [&](const KeyShape& shape, std::string_view kind) {
    return for_each_attribute(shape, [&](const AttributeDefinition& attribute) -> Result<void> {
      if (std::ranges::find(opened, attribute.name) == opened.end()) return {};
      return fail(Code::kValidation, messages::opened_key(kind, attribute.name));
    });
  };
  STATOR_CHECK_OK(check(table.key(), "Key"));
  for (const Index& index : table.indexes()) STATOR_CHECK_OK(check(index.key, "IndexKey"));
  return {};
}

Result<void> check_updated_item(const Table& table, const std::optional<ItemView>& before,
                                ItemView item, std::size_t size_bytes) {
  if (size_bytes > kItemBytesMax) return fail(Code::kValidation, messages::kUpdatedItemTooLarge);
  for (AttributeCursor cursor = item.attributes(); const auto attribute = cursor.next();) {
    if (deeper_than(attribute->value, kNestingMax)) {
      return fail(Code::kValidation, messages::kNestedTooDeeply);
    }
  }
  for (const Index& index : table.indexes()) {
    bool changed = false;
    STATOR_CHECK_OK(
        for_each_attribute(index.key, [&](const AttributeDefinition& attribute) -> Result<void> {
          const auto value = item.find(attribute.name);
          if (!value || (before && before->find(attribute.name) == value)) return {};
          changed = true;
          if (value->type() != attribute_type(attribute.type)) {
            return fail(Code::kValidation, messages::kUpdatedIndexKeyType);
          }
          if (key_bytes(*value) == 0) {
            return fail(Code::kValidation, messages::kUpdatedIndexKeyEmpty +
                                               std::string(kind_of(value->type())) + " value.");
          }
          return {};
        }));
    if (changed) STATOR_CHECK_OK(check_key_bytes(index.key, item));
  }
  return {};
}

}  // namespace stator
