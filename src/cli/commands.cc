// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace stator::cli {

void add_commands(CLI::App& app, Invocation& invocation) {
  static_cast<void>(app);
  static_cast<void>(invocation);
}

}  // namespace stator::cli
