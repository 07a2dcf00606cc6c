// SPDX-License-Identifier: Apache-2.0
// Shared parts of the readers of responses.
#pragma once

#include <string_view>

#include "api/json/json_reader.h"

namespace stator::wire {

// A response that cannot be read is an error of the server: kInternalServerError. Unknown
// enumeration values become the first known value.
template <class T, std::size_t N>
Result<T> read_answer(std::string_view json, const Member<T> (&table)[N]) {
  T answer;
  Reader reader;
  const Result<Document> document = Document::parse(json);
  if (!document) return fail(Code::kInternalServerError, "the response is not valid JSON");
  reader.members(document->root(), table, answer);
  if (reader.failed()) {
    return fail(Code::kInternalServerError,
                "the response cannot be read: " + reader.result().error().message);
  }
  return answer;
}

}  // namespace stator::wire
