// SPDX-License-Identifier: Apache-2.0
// Shared parts of the subcommands of `stator`: registration, execution, error reports.
//
// A subcommand is a file with one function that adds it to the parser:
//
//   void add_lock(CLI::App& app, Invocation& invocation) {
//     auto flags = std::make_shared<LockFlags>();
//     CLI::App* lock = app.add_subcommand("lock", "Hold a named lock while a command runs");
//     lock->add_option("name", flags->name, "…")->required();
//     lock->callback([&invocation, flags] { invocation.run = [flags] { return run_lock(*flags); };
//     });
//   }
//
// Also declare add_lock() in commands.h and list it in commands.cc, in the order of the help. A
// command with subcommands sets require_subcommand(1) and leaves the callbacks to them.
#pragma once

#include <cstddef>
#include <functional>
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

// Adds the subcommand that was typed, or all, in the order in which help lists them, if there is
// none of this name. To add all takes longer than most subcommands run.
void add_commands(CLI::App& app, Invocation& invocation, std::string_view typed);

// Replaces control characters except tabs by spaces, so that text from libraries, file names or
// untrusted data is printed as one line.
std::string one_line(std::string_view text);

// Prints one line on standard error: the problem and, if known, its remedy. Returns the exit
// status.
int report(const Error& error);              // kUsage for kInvalidArgument, otherwise kFailure
int report_usage(std::string_view problem);  // kUsage

// Adds --json, which sets `json`; `json` must live until the command has run. The command then
// prints its results as JSON objects, one per line. report() and report_usage() also print errors
// as JSON: `error` (the code's name, as DynamoDB or stator/result.h spells it), `message` and
// `retryable`.
void add_json_flag(CLI::App& command, bool& json);

// Reads standard input to its end. Errors: kInvalidArgument if it is larger than `megabytes_max`;
// kIo.
Result<std::string> read_standard_input(std::size_t megabytes_max);

// Parses the arguments and runs the subcommand. Returns the exit status of the process.
int run_program(int argc, const char* const* argv);

}  // namespace stator::cli
