// SPDX-License-Identifier: Apache-2.0
// Shared parts of the subcommands of `stator`: registration, execution, error reports.
//
// A subcommand is a file of its own with one function that adds it to the parser:
//
//   void add_lock(CLI::App& app, Invocation& invocation) {
//     auto flags = std::make_shared<LockFlags>();
//     CLI::App* lock = app.add_subcommand("lock", "Hold a named lock while a command runs");
//     lock->add_option("name", flags->name, "…")->required();
//     lock->callback([&invocation, flags] { invocation.run = [flags] { return run_lock(*flags); };
//     });
//   }
//
// Also add one line to commands.h and commands.cc. A command with subcommands sets
// require_subcommand(1) and leaves the callbacks to them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stator/result.h"

namespace CLI {
class App;
}

namespace stator::cli {

// Exit statuses.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

// The subcommand that the command line selects. It runs after parsing, outside the parser's
// exception handler, and returns the exit status of the process.
struct Invocation {
  std::function<int()> run;
};

// Every subcommand, in the order in which help lists them.
void add_commands(CLI::App& app, Invocation& invocation);

// The text as one line, also if it comes from a library, a file name or untrusted data: control
// characters except tabs become spaces.
std::string one_line(std::string_view text);

// Prints one line on standard error: the problem and, if known, its remedy. Returns the exit
// status.
int report(const Error& error);                // kUsage for kInvalidArgument, otherwise kFailure
int report_usage(std::string_view complaint);  // kUsage

// --json: results on standard output and errors on standard error as JSON objects, one per line. An
// error has `error` (the code's name, as DynamoDB or stator/result.h spells it), `message` and
// `retryable`.
void add_json_flag(CLI::App& command, bool& json);

// All of standard input; absent if it is larger than `bytes_max`.
std::optional<std::string> read_standard_input(std::size_t bytes_max);

// The whole program except `main`.
int run_program(int argc, const char* const* argv);

}  // namespace stator::cli
