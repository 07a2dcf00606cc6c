// SPDX-License-Identifier: Apache-2.0
// Errors of rejected statements, with the messages of messages.h.
#pragma once

#include <fmt/format.h>

#include "stator/result.h"

namespace stator::partiql {

// kValidation; the arguments fill the {} of `text`.
template <class... Arguments>
Failure refused(const char* text, const Arguments&... arguments) {
  return fail(Code::kValidation, fmt::format(fmt::runtime(text), arguments...));
}

}  // namespace stator::partiql
