// SPDX-License-Identifier: Apache-2.0
#include "engine/items/key_checks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "api/model/messages.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

std::size_t key_bytes(const AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return text->size();
  if (const auto* binary = value.get_if<Binary>()) return binary->bytes.size();
  return 1;  // a number is never too long or empty
}

std::size_t key_bytes(ValueView value) {
  return value.type() == AttributeType::kN ? 1 : value.text().size();
}

std::string_view kind_of(AttributeType type) {
  return type == AttributeType::kB ? "binary" : "string";
}

Result<void> check_lengths(std::size_t hash_bytes, std::size_t range_bytes) {
  if (hash_bytes > kHashKeyBytesMax) return fail(Code::kValidation, messages::kHashKeyTooLong);
  if (range_bytes > kRangeKeyBytesMax) return fail(Code::kValidation, messages::kRangeKeyTooLong);
  return {};
}

// Absent attributes are valid: an item need not be in an index.
template <class Source>
Result<void> check_key_bytes(const KeyShape& shape, const Source& item) {
  const auto total = [&](const std::vector<AttributeDefinition>& attributes) {
    std::size_t bytes = 0;
    for (const AttributeDefinition& attribute : attributes) {
      if (const auto value = find_attribute(item, attribute.name)) bytes += key_bytes(*value);
    }
    return bytes;
  };
  return check_lengths(total(shape.hash), total(shape.range));
}

template <class Check>
Result<void> for_each_attribute(const KeyShape& shape, Check check) {
  for (const auto* attributes : {&shape.hash, &shape.range}) {
    for (const AttributeDefinition& attribute : *attributes)
      STATOR_RETURN_IF_ERROR(check(attribute));
  }
  return {};
}

// A value that an index cannot have as its key.
struct KeyFault {
  std::string_view index;
  const AttributeDefinition* attribute = nullptr;
  std::optional<AttributeType> wrong_type;  // absent: the value is empty
};

enum class Faults { kAll, kEmpty };

std::optional<Update::Assigned> assigned(const Item& item, std::string_view name) {
  const AttributeValue* value = find_attribute(item, name);
  if (value == nullptr) return std::nullopt;
  return Update::Assigned{.type = value->type(), .value = value};
}
std::optional<Update::Assigned> assigned(const Update& update, std::string_view name) {
  return update.assigned(name);
}

// The key attributes of an index, or the search schema of a vector index.
using AttributeLists = std::array<const std::vector<AttributeDefinition>*, 2>;

AttributeLists keys_of(const Index& index) {
  return {&index.key.hash, &index.key.range};
}
AttributeLists keys_of(const VectorIndex& index) {
  return {&index.shape.key.hash, &index.shape.filters};
}

template <class AnyIndex, class Source>
std::optional<KeyFault> fault_in(const AnyIndex& index, Faults wanted, const Source& source) {
  for (const auto* attributes : keys_of(index)) {
    for (const AttributeDefinition& attribute : *attributes) {
      const auto value = assigned(source, attribute.name);
      if (!value) continue;
      KeyFault fault{.index = index.definition.name, .attribute = &attribute, .wrong_type = {}};
      if (value->type != attribute_type(attribute.type)) {
        fault.wrong_type = value->type;
        if (wanted == Faults::kAll) return fault;
      } else if (value->value != nullptr && key_bytes(*value->value) == 0) {
        return fault;
      }
    }
  }
  return std::nullopt;
}

// If several indexes have a fault, DynamoDB reports the one with the first name.
template <class Source>
std::optional<KeyFault> first_fault(const Table& table, Faults wanted, const Source& source) {
  std::optional<KeyFault> first;
  const auto look_at = [&](const auto& index) {
    if (first && first->index < index.definition.name) return;
    if (const auto fault = fault_in(index, wanted, source)) first = fault;
  };
  for (const Index& index : table.indexes()) look_at(index);
  for (const VectorIndex& index : table.vector_indexes()) look_at(index);
  return first;
}

Failure index_key_type(const KeyFault& fault) {
  const AttributeDefinition& attribute = *fault.attribute;
  return fail(Code::kValidation, messages::index_key_type_mismatch(
                                     attribute.name, type_name(attribute_type(attribute.type)),
                                     type_name(*fault.wrong_type), fault.index));
}

Result<void> refuse_put(const std::optional<KeyFault>& fault) {
  if (!fault) return {};
  if (fault->wrong_type) return index_key_type(*fault);
  const AttributeDefinition& attribute = *fault->attribute;
  return fail(Code::kValidation,
              messages::empty_index_key(attribute.name, kind_of(attribute_type(attribute.type)),
                                        fault->index));
}

Result<void> refuse_update(const std::optional<KeyFault>& fault) {
  if (!fault) return {};
  if (fault->wrong_type) return index_key_type(*fault);
  return fail(Code::kValidation, messages::kUpdatedIndexKeyEmpty +
                                     std::string(kind_of(attribute_type(fault->attribute->type))) +
                                     " value.");
}

// A valid vector is a list of numbers, one per dimension, each within the range of a float.
Result<void> check_vector(const VectorIndex& index, ValueView value) {
  const std::string& attribute = index.shape.attribute;
  const std::string& name = index.definition.name;
  if (value.type() != AttributeType::kL) {
    return fail(Code::kValidation, messages::no_vector(attribute, name));
  }
  std::size_t place = 0;
  for (ElementCursor cursor = value.elements(); const auto element = cursor.next(); ++place) {
    if (element->type() == AttributeType::kN &&
        std::isfinite(static_cast<float>(element->number().to_double()))) {
      continue;
    }
    return fail(Code::kValidation,
                messages::vector_element(attribute, place, type_name(element->type()), name));
  }
  if (place == index.shape.dimensions) return {};
  return fail(Code::kValidation,
              messages::vector_size(attribute, index.shape.dimensions, place, name));
}

}  // namespace

Result<void> check_no_empty_key(const KeyShape& table, const Item& item) {
  return for_each_attribute(table, [&](const AttributeDefinition& attribute) -> Result<void> {
    const AttributeValue* value = find_attribute(item, attribute.name);
    if (value != nullptr && key_bytes(*value) == 0) {
      return fail(Code::kValidation, messages::empty_key(attribute.name, kind_of(value->type())));
    }
    return {};
  });
}

// Runs for every operation on a key, so it reads the attributes only once.
Result<void> check_key(const KeyShape& table, const Item& key) {
  const AttributeDefinition* empty = nullptr;  // the first
  bool matches = key.size() == table.hash.size() + table.range.size();
  const auto total = [&](const std::vector<AttributeDefinition>& attributes) {
    std::size_t total_bytes = 0;
    for (const AttributeDefinition& attribute : attributes) {
      const AttributeValue* value = find_attribute(key, attribute.name);
      if (value == nullptr || value->type() != attribute_type(attribute.type)) {
        matches = false;
        break;
      }
      const std::size_t bytes = key_bytes(*value);
      if (bytes == 0 && empty == nullptr) empty = &attribute;
      total_bytes += bytes;
    }
    return total_bytes;
  };
  const std::size_t hash_bytes = total(table.hash);
  const std::size_t range_bytes = total(table.range);
  if (!matches) return fail(Code::kValidation, messages::kKeyDoesNotMatch);
  if (empty != nullptr) {
    return fail(Code::kValidation,
                messages::empty_key(empty->name, kind_of(attribute_type(empty->type))));
  }
  return check_lengths(hash_bytes, range_bytes);
}

Result<void> check_item(const Table& table, const Item& item) {
  STATOR_RETURN_IF_ERROR(
      for_each_attribute(table.key(), [&](const AttributeDefinition& attribute) -> Result<void> {
        const AttributeValue* value = find_attribute(item, attribute.name);
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
  STATOR_RETURN_IF_ERROR(check_no_empty_key(table.key(), item));
  STATOR_RETURN_IF_ERROR(check_key_bytes(table.key(), item));
  STATOR_RETURN_IF_ERROR(refuse_put(first_fault(table, Faults::kAll, item)));
  for (const Index& index : table.indexes())
    STATOR_RETURN_IF_ERROR(check_key_bytes(index.key, item));
  for (const VectorIndex& index : table.vector_indexes()) {
    STATOR_RETURN_IF_ERROR(check_key_bytes(index.shape.key, item));
    const AttributeValue* value = find_attribute(item, index.shape.attribute);
    if (value == nullptr) continue;
    const std::string encoded = encode_value(*value);
    STATOR_RETURN_IF_ERROR(check_vector(index, ValueView(encoded)));
  }
  return {};
}

Result<void> check_assigned_index_keys(const Table& table, const Update& update) {
  return refuse_update(first_fault(table, Faults::kAll, update));
}

Result<void> check_no_empty_index_key(const Table& table, const Item& item) {
  return refuse_put(first_fault(table, Faults::kEmpty, item));
}

Result<void> check_no_empty_index_key(const Table& table, const Update& update) {
  return refuse_update(first_fault(table, Faults::kEmpty, update));
}

Result<void> check_keys_unopened(const Table& table, const std::vector<std::string>& opened) {
  if (opened.empty()) return {};
  const auto check = [&](const KeyShape& shape, std::string_view kind) {
    return for_each_attribute(shape, [&](const AttributeDefinition& attribute) -> Result<void> {
      if (std::ranges::find(opened, attribute.name) == opened.end()) return {};
      return fail(Code::kValidation, messages::opened_key(kind, attribute.name));
    });
  };
  STATOR_RETURN_IF_ERROR(check(table.key(), "Key"));
  for (const Index& index : table.indexes()) STATOR_RETURN_IF_ERROR(check(index.key, "IndexKey"));
  for (const VectorIndex& index : table.vector_indexes()) {
    STATOR_RETURN_IF_ERROR(check(index.shape.key, "IndexKey"));
  }
  return {};
}

Result<void> check_updated_index_keys(const Table& table, const std::optional<ItemView>& before,
                                      ItemView item) {
  const auto is_new = [&](const std::string& attribute, const std::optional<ValueView>& value) {
    return value && !(before && before->find(attribute) == value);
  };
  bool changed = false;
  const auto check_new = [&](const AttributeDefinition& attribute) -> Result<void> {
    const auto value = item.find(attribute.name);
    if (!is_new(attribute.name, value)) return {};
    changed = true;
    if (value->type() != attribute_type(attribute.type)) {
      return fail(Code::kValidation, messages::kUpdatedIndexKeyType);
    }
    if (key_bytes(*value) == 0) {
      return fail(Code::kValidation, messages::kUpdatedIndexKeyEmpty +
                                         std::string(kind_of(value->type())) + " value.");
    }
    return {};
  };
  for (const Index& index : table.indexes()) {
    changed = false;
    STATOR_RETURN_IF_ERROR(for_each_attribute(index.key, check_new));
    if (changed) STATOR_RETURN_IF_ERROR(check_key_bytes(index.key, item));
  }
  for (const VectorIndex& index : table.vector_indexes()) {
    changed = false;
    STATOR_RETURN_IF_ERROR(for_each_attribute(index.shape.key, check_new));
    if (changed) STATOR_RETURN_IF_ERROR(check_key_bytes(index.shape.key, item));
    for (const AttributeDefinition& filter : index.shape.filters) {
      STATOR_RETURN_IF_ERROR(check_new(filter));
    }
    const auto value = item.find(index.shape.attribute);
    if (is_new(index.shape.attribute, value)) STATOR_RETURN_IF_ERROR(check_vector(index, *value));
  }
  return {};
}

}  // namespace stator
