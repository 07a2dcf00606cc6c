// SPDX-License-Identifier: Apache-2.0
// Completion of `stator` command lines in shells, whose scripts call the program again:
//
//   stator __complete WORD…    prints candidates for the last word, one per line
#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace stator::cli {

inline constexpr const char* kCompleteCommand = "__complete";

// The candidates for the last of `words`, which follow the program's name. Empty if a file or free
// text is expected.
std::vector<std::string> complete(const CLI::App& app, std::span<const std::string> words);

// A command's subcommands and the long names of its options.
std::vector<std::string> subcommands_of(const CLI::App& command);
std::vector<std::string> options_of(const CLI::App& command);

}  // namespace stator::cli
