// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "api/model/messages.h"
#include "api/wire/request_reader.h"
#include "fmt/format.h"

namespace stator::wire {
namespace {

struct SearchDraft : SearchVectorsRequest {
  // Whether each member of kRequired is present. DynamoDB reports the first missing one.
  std::array<bool, 4> has = {};
};
constexpr std::array<std::string_view, 4> kRequired = {"TableName", "IndexName", "SearchVector",
                                                       "TopK"};

void set_search_table(Reader& reader, Json json, SearchDraft& out) {
  out.has[0] = true;
  out.table = reader.table_name(json);
}

void set_search_index(Reader& reader, Json json, SearchDraft& out) {
  out.has[1] = true;
  out.index = reader.text(json);
}

void set_search_vector(Reader& reader, Json json, SearchDraft& out) {
  out.has[2] = true;
  bool valid = true;
  reader.elements(json, [&](Json element) {
    const AttributeValue value = reader.value(element);
    const auto* number = value.get_if<Number>();
    const float component = number != nullptr ? static_cast<float>(number->to_double()) : NAN;
    valid = valid && std::isfinite(component);
    out.vector.push_back(component);
  });
  if (!valid && !reader.failed()) reader.fail(Code::kValidation, messages::kSearchVectorValues);
}

void set_top_k(Reader& reader, Json json, SearchDraft& out) {
  out.has[3] = true;
  out.top_k = reader.integer(json);
}

constexpr Member<SearchDraft> kSearchVectors[] = {
    {"TableName", set_search_table},
    {"IndexName", set_search_index},
    {"SearchVector", set_search_vector},
    {"TopK", set_top_k},
    {"SearchConditionExpression", set_text<&SearchDraft::condition>},
    {"ProjectionExpression", set_text<&SearchDraft::projection>},
    {"ExpressionAttributeNames", set_names<&SearchDraft::names>},
    {"ExpressionAttributeValues", set_values<&SearchDraft::values>},
    {"ReturnConsumedCapacity", set_enum<&SearchDraft::return_capacity>},
    {"Exact", set_boolean<&SearchDraft::exact>},
};

}  // namespace

template <>
Result<SearchVectorsRequest> read_request(std::string_view json) {
  std::string_view lacking;
  auto request = read_document<SearchVectorsRequest>(
      json, kSearchVectors, [&](Reader&, const SearchDraft& draft) {
        const auto first = std::ranges::find(draft.has, false);
        if (first != draft.has.end())
          lacking = kRequired[static_cast<std::size_t>(first - draft.has.begin())];
      });
  if (lacking.empty()) return request;
  return fail(Code::kValidation, fmt::format(messages::kMissingField, lacking, json.size()));
}

}  // namespace stator::wire
