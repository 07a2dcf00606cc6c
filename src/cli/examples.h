// SPDX-License-Identifier: Apache-2.0
// The examples at the end of the commands' help.
#pragma once

namespace CLI {
class App;
}

namespace stator::cli {

// Adds an example to the help of every command that has no subcommands.
void add_examples(CLI::App& app);

}  // namespace stator::cli
