// SPDX-License-Identifier: Apache-2.0
#include "api/model/utf8.h"

#include "simdjson.h"

namespace stator::wire {

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace stator::wire
