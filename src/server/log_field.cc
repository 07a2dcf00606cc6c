// SPDX-License-Identifier: Apache-2.0
#include "server/log_field.h"

namespace stator::server {

std::string log_field(std::string_view field) {
  std::string text(field.substr(0, kLogFieldBytesMax));
  for (char& c : text) {
    if (c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '=') c = '?';
  }
  return text;
}

}  // namespace stator::server
