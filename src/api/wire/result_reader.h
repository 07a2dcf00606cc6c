// SPDX-License-Identifier: Apache-2.0
// What the readers of all answers share.
#pragma once

#include <string_view>

#include "api/json/json_reader.h"

namespace stator::wire {

// Answers are the service's own, so one that cannot be read is its fault: kInternalServerError.
// Enumeration values that this version does not know become the first value that it does know.
template <class T, std::size_t N>
Result<T> read_answer(std::string_view json, const Member<T> (&table)[N]) {
  T answer;
  Reader reader;
  const Result<Document> document = Document::parse(json);
  if (!document) return fail(Code::kInternalServerError, "The answer is not valid JSON");
  reader.members(document->root(), table, answer);
  if (reader.failed()) {
    return fail(Code::kInternalServerError,
                "The answer cannot be read: " + reader.result().error().message);
  }
  return answer;
}

}  // namespace stator::wire
