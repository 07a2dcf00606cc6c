// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/completion.h"
#include "cli/manual.h"
#include "cli/suggestion.h"

namespace stator::cli {
namespace {

constexpr const char* kDescription =
    "Stator: the DynamoDB API in one engine, in process or over the wire.";
constexpr const char* kFooter =
    "Exit status: 0 done, 1 failed, 2 wrong usage. `stator COMMAND --help` lists a command's "
    "flags.";

bool errors_as_json = false;  // set when --json is parsed

void complain(const Error& error) {
  const std::string message = one_line(error.message);
  const std::string line = errors_as_json
                               ? wire::item_to_plain_json({{"error", code_name(error.code)},
                                                           {"message", message},
                                                           {"retryable", error.retryable()}})
                               : "stator: " + message;
  std::fprintf(stderr, "%s\n", line.c_str());
}

// The innermost subcommand that the arguments select, and its full name as typed.
struct Typed {
  const CLI::App* command;
  std::string text;
};
Typed typed_command(const CLI::App& app) {
  Typed typed{.command = &app, .text = app.get_name()};
  while (!typed.command->get_subcommands().empty()) {
    typed.command = typed.command->get_subcommands().front();
    typed.text += " " + typed.command->get_name();
  }
  return typed;
}

// The first unexpected argument, or empty. Flags have precedence over words, which are often their
// values.
std::string unknown_word(const CLI::App& app) {
  std::vector<std::string> words = app.remaining(true);
  std::erase(words, "--");
  const auto flag =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with("--"); });
  if (flag != words.end()) return *flag;
  return words.empty() ? "" : words.front();
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return app.exit(error);  // --help and --version
  }
  const Typed typed = typed_command(app);
  std::string complaint = error.what();
  const std::string unknown = unknown_word(app);
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  const bool needs_subcommand =
      is(CLI::ExitCodes::RequiredError) && typed.command->get_require_subcommand_min() > 0;
  if (!unknown.empty() && (needs_subcommand || is(CLI::ExitCodes::ExtrasError))) {
    complaint = needs_subcommand ? "unknown command '" + typed.text + " " + unknown + "'"
                                 : "unexpected argument '" + unknown + "'";
    std::vector<std::string> words = subcommands_of(*typed.command);
    std::ranges::copy(options_of(*typed.command), std::back_inserter(words));
    const std::string meant = nearest(unknown, words);
    if (!meant.empty()) complaint += "; did you mean '" + meant + "'?";
  }
  return report_usage(one_line(complaint) + " (see " + typed.text + " --help)");
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  const auto controls = [](char c) { return (c >= '\0' && c < ' ' && c != '\t') || c == '\x7f'; };
  std::ranges::replace_if(line, controls, ' ');
  return line;
}

int report(const Error& error) {
  complain(error);
  return error.code == Code::kInvalidArgument ? kUsage : kFailure;
}

int report_usage(std::string_view complaint) {
  complain({.code = Code::kInvalidArgument, .message = std::string(complaint)});
  return kUsage;
}

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag_callback(
      "--json", [&json] { json = errors_as_json = true; }, "Print one JSON object per line");
}

Result<std::string> read_standard_input(std::size_t megabytes_max) {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
    if (text.size() + count > megabytes_max << 20) {
      return fail(Code::kInvalidArgument,
                  "standard input is larger than " + std::to_string(megabytes_max) + " MB");
    }
    text.append(buffer.data(), count);
  }
  if (std::ferror(stdin) != 0) {
    return fail(Code::kIo, std::string("cannot read standard input: ") + std::strerror(errno));
  }
  return text;
}

int run_program(int argc, const char* const* argv) {
  try {
    CLI::App app(kDescription, "stator");
    app.footer(kFooter);
    app.set_version_flag("--version", std::string("stator ") + STATOR_VERSION);
    Invocation invocation;
    add_commands(app, invocation, argc > 1 ? argv[1] : "");
    if (argc > 1 && std::string_view(argv[1]) == kCompleteCommand) {
      const std::vector<std::string> words(argv + 2, argv + argc);
      for (const std::string& word : complete(app, words)) std::puts(word.c_str());
      return kSuccess;
    }
    if (argc == 3 && std::string_view(argv[1]) == kManualCommand) {
      const auto written = write_manual(app, STATOR_VERSION, argv[2]);
      return written ? kSuccess : report(written.error());
    }
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return report_parse_error(app, error);
    }
    if (!invocation.run) {
      const std::string help = app.help();
      std::fwrite(help.data(), 1, help.size(), stderr);
      return kUsage;
    }
    const int status = invocation.run();
    if (std::fflush(stdout) != 0 && status == kSuccess) {
      return report({.code = Code::kIo, .message = "could not write to standard output"});
    }
    return status;
  } catch (const std::exception& error) {
    return report({.code = Code::kInternalServerError, .message = error.what()});
  }
}

}  // namespace stator::cli
