// SPDX-License-Identifier: Apache-2.0
// The server's log: lines on its standard error.
//
// Thread safety: from any thread.
#pragma once

#include <string>

namespace stator::server {

// One line, whatever is in the text: what does not print is a question mark, and long texts are
// cut.
void log_error(std::string text);

}  // namespace stator::server
