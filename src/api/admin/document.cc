// SPDX-License-Identifier: Apache-2.0
#include "api/admin/document.h"

#include <algorithm>

#include "api/json/item_json.h"
#include "api/json/json_reader.h"
#include "api/model/table_name.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace stator {
namespace wire {
namespace {

class DocumentReader {
 public:
  AttributeValue read(Json json, const Shape& shape) {
    switch (shape.kind) {
      case Shape::Kind::kText:
        return checked_text(reader_.text(json), shape);
      case Shape::Kind::kTable: {
        const std::string text = reader_.text(json);
        if (!reader_.failed()) reader_.constraints().table_name(text, reader_.path());
        return std::string(table_name_in(text));
      }
      case Shape::Kind::kBoolean:
        return reader_.boolean(json);
      case Shape::Kind::kInteger:
        return checked_number(reader_.integer(json), shape);
      case Shape::Kind::kLong:
        return checked_number(reader_.integer(json, "Long"), shape);
      case Shape::Kind::kReal:
        return real(json);
      case Shape::Kind::kTime:
        return reader_.time_ms(json);
      case Shape::Kind::kList:
        return list(json, shape);
      case Shape::Kind::kMap:
        return map(json, shape);
      case Shape::Kind::kStructure:
        return structure(json, shape);
      case Shape::Kind::kAnything:
        return anything(json, 0);
    }
    return {};
  }

  Item structure(Json json, const Shape& shape) {
    Item document;
    reader_.structure_members(
        json,
        [&](std::string_view name, Json value) {
          const auto member = std::ranges::find(shape.members, name, &MemberShape::name);
          if (member == shape.members.end()) return;
          document.insert_or_assign(std::string(name), read(value, *member->shape));
        },
        [&] {
          for (const MemberShape& member : shape.members) {
            if (member.required && !document.contains(member.name)) reader_.missing(member.name);
          }
        });
    return document;
  }

  Reader& reader() { return reader_; }

 private:
  AttributeValue checked_text(std::string text, const Shape& shape) {
    if (reader_.failed()) return text;
    Constraints& constraints = reader_.constraints();
    const std::string path = reader_.path();
    if (!shape.values.empty() && std::ranges::find(shape.values, text) == shape.values.end()) {
      constraints.violated(
          text, path,
          fmt::format("Member must satisfy enum value set: [{}]", fmt::join(shape.values, ", ")));
    }
    if (shape.matches != nullptr && !shape.matches(text)) {
      constraints.violated(
          text, path,
          fmt::format("Member must satisfy regular expression pattern: {}", shape.pattern));
    }
    constraints.length(text, path, static_cast<std::size_t>(std::max<int64_t>(shape.least, 0)),
                       static_cast<std::size_t>(shape.most));
    return text;
  }

  AttributeValue checked_number(int64_t value, const Shape& shape) {
    if (!reader_.failed()) {
      reader_.constraints().range(value, reader_.path(), shape.least, shape.most);
    }
    return value;
  }

  AttributeValue real(Json json) {
    const auto number = Number::from_double(reader_.real(json));
    if (!number) reader_.fail(number.error());
    return number.value_or(Number());
  }

  AttributeValue list(Json json, const Shape& shape) {
    List list;
    const std::string path = reader_.path();
    reader_.elements(json, [&](Json element) { list.push_back(read(element, *shape.element)); });
    if (!reader_.failed()) {
      reader_.constraints().count(list.size(), path,
                                  static_cast<std::size_t>(std::max<int64_t>(shape.least, 0)),
                                  static_cast<std::size_t>(shape.most));
    }
    return list;
  }

  Item map(Json json, const Shape& shape) {
    Item map;
    reader_.entries(json, [&](std::string_view name, Json part) {
      map.insert_or_assign(std::string(name), read(part, *shape.element));
    });
    return map;
  }

  AttributeValue anything(Json json, int depth) {
    constexpr int kDepthMax = 32;
    if (depth == kDepthMax) {
      reader_.fail(Code::kSerialization, "Document is nested too deeply");
      return {};
    }
    if (json.is_string()) return reader_.text(json);
    if (json.is_bool()) return reader_.boolean(json);
    if (json.is_int64()) return reader_.integer(json, "Long");
    if (json.is_number()) return real(json);
    if (json.is_array()) {
      List list;
      reader_.elements(json, [&](Json part) { list.push_back(anything(part, depth + 1)); });
      return list;
    }
    Item map;
    reader_.entries(json, [&](std::string_view name, Json part) {
      map.insert_or_assign(std::string(name), anything(part, depth + 1));
    });
    return map;
  }

  Reader reader_;
};

}  // namespace

Result<Item> read_document(std::string_view json, const Shape& shape) {
  STATOR_ASSIGN_OR_RETURN(const Document parsed, Document::parse(json));
  DocumentReader documents;
  const AttributeValue read = documents.read(parsed.root(), shape);
  STATOR_RETURN_IF_ERROR(documents.reader().result());
  return as_map(read);
}

std::string document_to_json(const Item& document) {
  return item_to_plain_json(document);
}

bool is_json(std::string_view text) {
  const auto parsed = Document::parse(text);
  return parsed && parsed->root().is_object();
}

}  // namespace wire

namespace {

template <class T>
const T& member_or_empty(const Item& document, std::string_view member) {
  static const T empty;
  const auto found = document.find(member);
  const T* value = found == document.end() ? nullptr : found->second.get_if<T>();
  return value == nullptr ? empty : *value;
}

template <class T>
const T& value_or_empty(const AttributeValue& value) {
  static const T empty;
  const T* held = value.get_if<T>();
  return held == nullptr ? empty : *held;
}

}  // namespace

std::string text_of(const Item& document, std::string_view member) {
  return member_or_empty<std::string>(document, member);
}

int64_t integer_of(const Item& document, std::string_view member, int64_t otherwise) {
  if (!document.contains(member)) return otherwise;
  return member_or_empty<Number>(document, member).to_int64().value_or(otherwise);
}

bool boolean_of(const Item& document, std::string_view member) {
  const auto found = document.find(member);
  const bool* value = found == document.end() ? nullptr : found->second.get_if<bool>();
  return value != nullptr && *value;
}

const List& list_of(const Item& document, std::string_view member) {
  return member_or_empty<List>(document, member);
}

const Item& map_of(const Item& document, std::string_view member) {
  return member_or_empty<Item>(document, member);
}

const Item& as_map(const AttributeValue& value) {
  return value_or_empty<Item>(value);
}

const std::string& as_text(const AttributeValue& value) {
  return value_or_empty<std::string>(value);
}

}  // namespace stator
