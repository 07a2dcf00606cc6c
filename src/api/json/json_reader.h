// SPDX-License-Identifier: Apache-2.0
// Reads untrusted JSON into typed structures.
//
// A table of members (Member) describes a structure. read_members() walks the JSON object once and
// calls the reader of each member. Unknown members and nulls are skipped; of a repeated member, the
// last one counts.
// Errors, in DynamoDB's order: a wrong JSON type (kSerialization), which ends reading at once;
// violations of the model (unknown enumeration values, missing members), collected into one
// message; the first invalid value (kValidation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/model/constraints.h"
#include "api/model/enums.h"
#include "api/model/layer.h"
#include "simdjson.h"
#include "stator/value.h"

namespace stator::wire {

using Json = simdjson::dom::element;

// A parsed text. Its Json values are valid as long as it exists. Documents of up to 64 KB borrow
// the parser of their thread: parsing another one on this thread invalidates them.
class Document {
 public:
  static Result<Document> parse(std::string_view text);  // Errors: kSerialization, no message.
  Json root() const { return root_; }

 private:
  std::unique_ptr<simdjson::dom::parser> own_parser_;  // only for large texts
  Json root_;
};

class Reader;

// The constraint of an enumeration with these values, as violations state it.
std::string enum_constraint(std::string_view values);

template <class T>
struct Member {
  std::string_view name;
  void (*read)(Reader&, Json, T&);
  bool required = false;
};

// Invalid values are reported in this order, regardless of their order in the text.
enum class Stage { kParameters, kItems, kConditions, kStartKey, kExpressions };

class Reader {
 public:
  // During its lifetime, invalid values are assigned to a stage.
  class At {
   public:
    At(Reader& reader, Stage stage)
        : reader_(reader), outer_(std::exchange(reader.stage_, stage)) {}
    At(const At&) = delete;
    At& operator=(const At&) = delete;
    ~At() { reader_.stage_ = outer_; }

   private:
    Reader& reader_;
    Stage outer_;
  };

  explicit Reader(Layer layer = Layer::kOlder) : layer_(layer) {}

  Layer layer() const { return layer_; }
  // A wrong JSON type, or another error than kValidation: reading has stopped.
  bool failed() const { return error_.has_value(); }
  // Neither failed() nor an invalid value nor a violated constraint.
  bool sound() const { return !failed() && !invalid_ && constraints_.empty(); }
  void fail(Code code, std::string message);
  void fail(Error error);
  Result<void> result() const;
  // Whether result() reports an invalid attribute value. Errors of check_parameters() have
  // precedence over it.
  bool reports_value() const {
    return !failed() && constraints_.empty() && invalid_ && invalid_stage_ > Stage::kParameters;
  }

  std::string text(Json json);
  std::vector<std::string> texts(Json json);
  bool boolean(Json json);
  int64_t integer(Json json, std::string_view type = "Integer");  // or "Long"
  double real(Json json);
  // Converts Unix seconds to milliseconds. Clamps to 1e11 seconds before or after 1970.
  int64_t time_ms(Json json);
  // A table's name, also if the JSON contains its ARN. The second one is for operations on tables,
  // for which an empty name violates other constraints.
  std::string table_name(Json json);
  std::string managed_table_name(Json json);

  // `current` is the message of DynamoDB's current layer, if it differs.
  template <class E>
  E enumeration(Json json, std::string_view current = {}) {
    const std::string name = text(json);
    const std::optional<E> value = enum_from_name<E>(name);
    if (!value && !failed()) {
      constraints_.violated(name, path_to(member_), enum_constraint(enum_set_text<E>()), current);
    }
    return value.value_or(E{});
  }

  template <class E>
  E enumeration(std::string_view member, Json json) {
    member_ = member;
    return enumeration<E>(json);
  }

  AttributeValue value(Json json);
  // Like value(), for a member of a structure.
  AttributeValue member_value(Json json);
  Item item(Json json);
  std::vector<Item> items(Json json);
  Names names(Json json);  // ExpressionAttributeNames
  // ExpressionAttributeValues: the older layer names the key of an invalid value.
  Values values(Json json);
  // Reads, and returns the message of an invalid value instead of recording it.
  template <class Read>
  std::string fault_of(Read read) {
    std::optional<Error> outer = std::exchange(invalid_, std::nullopt);
    const Stage outer_stage = invalid_stage_;
    read();
    const std::optional<Error> found = std::exchange(invalid_, std::move(outer));
    invalid_stage_ = outer_stage;
    return found ? found->message : "";
  }
  // ExclusiveStartKey: the older layer reports that an invalid value is part of the key.
  Item start_key(Json json);

  // Calls read(element) for each element of a list.
  template <class F>
  void elements(Json json, F read) {
    simdjson::dom::array array;
    if (!list(json, array)) return;
    const std::string_view member = member_;
    const std::size_t outer = enter(member_);
    std::size_t place = 0;
    for (const Json element : array) {
      const std::size_t inner = enter_numbered(++place);
      element_of_ = member;
      read(element);
      path_.resize(inner);
      if (failed()) break;
    }
    path_.resize(outer);
  }

  // Calls read(name, value) for each entry of a map. The first overload also sets the current
  // member, for a map that is read after the other members of its structure.
  template <class F>
  void entries(std::string_view member, Json json, F read) {
    member_ = member;
    entries(json, read);
  }
  template <class F>
  void entries(Json json, F read) {
    simdjson::dom::object object;
    const std::string_view member = member_;
    if (!map(json, object)) return;
    const std::size_t outer = enter(member_);
    for (const auto [name, entry] : object) {
      if (entry.is_null()) continue;
      const std::size_t inner = enter_entry(name);
      element_of_ = member;
      read(std::string_view(name), entry);
      path_.resize(inner);
      if (failed()) break;
    }
    path_.resize(outer);
  }

  // Reads one structure by the table of its members.
  template <class T, class S, std::size_t N>
  void members(Json json, const Member<S> (&table)[N], T& out) {
    simdjson::dom::object object;
    if (!structure(json, object)) return;
    const std::size_t outer = enter(member_);
    bool seen[N] = {};
    for (const auto [name, value] : object) {
      for (std::size_t i = 0; i < N; ++i) {
        if (name != table[i].name) continue;
        if (!value.is_null()) {
          seen[i] = true;
          member_ = table[i].name;
          table[i].read(*this, value, out);
        }
        break;
      }
      if (failed()) break;
    }
    for (std::size_t i = 0; i < N && !failed(); ++i) {
      if (table[i].required && !seen[i]) constraints_.missing(path_to(table[i].name));
    }
    path_.resize(outer);
  }

  // Calls read(name, value) for each member of a structure, then complete(). During both, missing()
  // refers to the structure.
  template <class F, class G>
  void structure_members(Json json, F read, G complete) {
    simdjson::dom::object object;
    if (!structure(json, object)) return;
    const std::size_t outer = enter(member_);
    for (const auto [name, value] : object) {
      if (value.is_null()) continue;
      member_ = name;
      read(std::string_view(name), value);
      if (failed()) break;
    }
    if (!failed()) complete();
    path_.resize(outer);
  }

  Constraints& constraints() { return constraints_; }
  // The path to the current member.
  std::string path() const { return member_.empty() ? path_ : path_to(member_); }
  // Fails because this version lacks the feature of the member that is being read.
  void refuse_member();
  void missing(std::string_view member) { constraints_.missing(path_to(member)); }

 private:
  // The path to a member in DynamoDB's form: names begin in lower case, positions with 1.
  std::string path_to(std::string_view member) const;
  // These extend the path and return its former length.
  std::size_t enter(std::string_view member);
  std::size_t enter_numbered(std::size_t place);   // "3.member"
  std::size_t enter_entry(std::string_view name);  // "name.member"

  bool list(Json json, simdjson::dom::array& array);
  bool structure(Json json, simdjson::dom::object& object);
  bool map(Json json, simdjson::dom::object& object);
  // Fails for a JSON value that should be a scalar of type `wanted`.
  void wrong_type(Json json, std::string_view wanted);
  // Reads at a stage, and wraps the message of an invalid value.
  template <class Read, class Wrap>
  void within(Stage stage, Read read, Wrap wrap) {
    const At at(*this, stage);
    std::optional<Error> outer = std::exchange(invalid_, std::nullopt);
    const Stage outer_stage = invalid_stage_;
    read();
    if (invalid_) invalid_->message = wrap(invalid_->message);
    if (outer && (!invalid_ || outer_stage <= stage)) {
      invalid_ = std::move(outer);
      invalid_stage_ = outer_stage;
    }
  }

  AttributeValue value_at(Json json, int depth);
  AttributeValue typed_value(AttributeType type, Json json, int depth);
  Item item_at(Json json, int depth);
  Number number(Json json);
  std::string binary(Json json);
  AttributeValue string_set(Json json);
  AttributeValue number_set(Json json);
  AttributeValue binary_set(Json json);
  bool too_deep(int depth);

  const Layer layer_;
  std::optional<Error> error_;
  std::optional<Error> invalid_;
  // The first invalid name in a nested map: the last error of its item or value.
  std::optional<Error> nested_name_;
  Stage invalid_stage_ = Stage::kItems;
  Stage stage_ = Stage::kItems;
  Constraints constraints_;
  std::string path_;
  std::string_view member_;      // being read, if it extends the path
  std::string_view element_of_;  // the list or map of which an element is about to be read
};

// ---- Readers of members, by pointer to the member: set_text<&PutItemRequest::condition>.

template <auto member, class T>
void set_text(Reader& reader, Json json, T& out) {
  out.*member = reader.text(json);
}
template <auto member, class T>
void set_table(Reader& reader, Json json, T& out) {
  out.*member = reader.table_name(json);
}
template <auto member, class T>
void set_managed_table(Reader& reader, Json json, T& out) {
  out.*member = reader.managed_table_name(json);
}
template <auto member, class T>
void set_boolean(Reader& reader, Json json, T& out) {
  out.*member = reader.boolean(json);
}
template <auto member, class T>
void set_integer(Reader& reader, Json json, T& out) {
  out.*member = reader.integer(json);
}
template <auto member, class T>
void set_long(Reader& reader, Json json, T& out) {
  out.*member = reader.integer(json, "Long");
}
template <auto member, class T>
void set_real(Reader& reader, Json json, T& out) {
  out.*member = reader.real(json);
}
template <auto member, class T>
void set_time(Reader& reader, Json json, T& out) {
  out.*member = reader.time_ms(json);
}
template <auto member, class T>
void set_item(Reader& reader, Json json, T& out) {
  out.*member = reader.item(json);
}
template <auto member, class T>
void set_start_key(Reader& reader, Json json, T& out) {
  out.*member = reader.start_key(json);
}
template <auto member, class T>
void set_json(Reader&, Json json, T& out) {
  out.*member = json;
}
template <auto member, class T>
void set_values(Reader& reader, Json json, T& out) {
  out.*member = reader.values(json);
}
template <auto member, class T>
void set_items(Reader& reader, Json json, T& out) {
  out.*member = reader.items(json);
}
template <auto member, class T>
void set_attribute_values(Reader& reader, Json json, T& out) {
  std::vector<AttributeValue> values;
  reader.elements(json, [&](Json element) { values.push_back(reader.value(element)); });
  out.*member = std::move(values);
}
template <auto member, class T>
void set_texts(Reader& reader, Json json, T& out) {
  out.*member = reader.texts(json);
}
template <class V>
struct ValueOf {
  using Type = V;
};
template <class V>
struct ValueOf<std::optional<V>> {
  using Type = V;
};
template <auto member, class T>
void set_enum(Reader& reader, Json json, T& out) {
  using E = typename ValueOf<std::remove_cvref_t<decltype(out.*member)>>::Type;
  out.*member = reader.enumeration<E>(json);
}
// A member whose feature this version lacks: ignoring it would change the request's meaning.
template <class T>
void refuse(Reader& reader, Json, T&) {
  reader.refuse_member();
}
// A structure described by `table` whose members `out` itself has.
template <const auto& table, class T>
void set_members(Reader& reader, Json json, T& out) {
  reader.members(json, table, out);
}
// A structure described by `table`, and a list of such structures.
template <auto member, const auto& table, class T>
void set_structure(Reader& reader, Json json, T& out) {
  typename ValueOf<std::remove_cvref_t<decltype(out.*member)>>::Type value;
  reader.members(json, table, value);
  out.*member = std::move(value);
}
template <auto member, const auto& table, class T>
void set_list(Reader& reader, Json json, T& out) {
  typename ValueOf<std::remove_cvref_t<decltype(out.*member)>>::Type list;
  reader.elements(json, [&](Json element) { reader.members(element, table, list.emplace_back()); });
  out.*member = std::move(list);
}

}  // namespace stator::wire
