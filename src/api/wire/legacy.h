// SPDX-License-Identifier: Apache-2.0
// Legacy parameters, which are older than expressions and are translated into them when read.
//
// Attribute names and values become placeholders, whatever they contain. Translations append to
// existing names and values of a request (KeyConditions can be combined with a FilterExpression).
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.html
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "api/json/json_reader.h"
#include "stator/requests.h"

namespace stator::wire {

// The parameters as read; absent if missing. Valid as long as the document.
struct LegacyParameters {
  std::optional<Json> expected;
  std::optional<Json> attribute_updates;
  std::optional<Json> key_conditions;
  std::optional<Json> filter;  // QueryFilter or ScanFilter
  std::optional<Json> attributes_to_get;
  std::optional<Json> conditional_operator;
};

// A ConditionalOperator: its type is checked whether or not there are conditions.
template <auto member, class T>
void set_operator(Reader& reader, Json json, T& out) {
  static_cast<void>(reader.text(json));
  out.*member = json;
}

struct Parameter {
  std::string_view name;
  bool given;
};

// Returns whether legacy parameters must be translated. Errors: legacy parameters and expressions
// in one request; names or values without any expression.
bool uses_legacy(Reader& reader, std::initializer_list<Parameter> expressions,
                 std::initializer_list<Parameter> legacy, bool has_names, bool has_values);

// Translations share the placeholders of one request.
class LegacyTranslator {
 public:
  // `values` is null for requests that have none.
  LegacyTranslator(Reader& reader, std::optional<Names>& names, std::optional<Values>* values);

  // Each returns the text of an expression; absent if there is nothing to translate, or on failure.
  std::optional<std::string> condition(Json expected, const std::optional<Json>& combine);
  // `parameter`: QueryFilter or ScanFilter.
  std::optional<std::string> filter(std::string_view parameter, Json filter,
                                    const std::optional<Json>& combine);
  std::optional<std::string> key_condition(Json key_conditions);
  std::optional<std::string> update(Json attribute_updates);
  // Rejects a ConditionalOperator without conditions.
  void refuse_operator(const std::optional<Json>& combine);
  std::optional<std::string> projection(Json attributes_to_get);

 private:
  struct Comparison;
  struct UpdateEntry;
  struct UpdateClauses;
  std::string name(std::string_view attribute);
  std::string value(AttributeValue value);
  std::string comparison(std::string_view attribute, const Comparison& comparison);
  std::string expectation(std::string_view attribute, Comparison& expected);
  bool read_comparison(Json json, Comparison& comparison);
  bool check(const Comparison& comparison);
  bool check(const UpdateEntry& entry);
  void add_update(std::string_view attribute, UpdateEntry& entry, UpdateClauses& clauses);
  std::string_view joint(std::size_t count, const std::optional<Json>& combine);

  Reader& reader_;
  const Reader::At at_;
  std::optional<Names>& names_;
  std::optional<Values>* values_;
  std::size_t next_name_ = 0;
  std::size_t next_value_ = 0;
};

// For requests whose only legacy parameter is AttributesToGet.
template <class Draft>
void translate_projection(Reader& reader, Draft& draft) {
  if (!uses_legacy(reader, {{"ProjectionExpression", draft.projection.has_value()}},
                   {{"AttributesToGet", draft.attributes_to_get.has_value()}},
                   draft.names.has_value(), false)) {
    return;
  }
  draft.legacy = true;
  LegacyTranslator translator(reader, draft.names, nullptr);
  draft.projection = translator.projection(*draft.attributes_to_get);
}

}  // namespace stator::wire
