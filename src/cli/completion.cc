// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>

#include "cli/commands.h"

namespace stator::cli {
namespace {

constexpr const char* kBash = R"(_stator() {
  local IFS=$'\n'
  COMPREPLY=($(stator __complete "${COMP_WORDS[@]:1:COMP_CWORD}"))
}
complete -o default -F _stator stator
)";
constexpr const char* kZsh = R"(#compdef stator
_stator() {
  local -a candidates
  candidates=("${(@f)$(stator __complete "${(@)words[2,CURRENT]}")}")
  if [[ -n ${candidates[1]} ]]; then compadd -a candidates; else _files; fi
}
if [[ $funcstack[1] == _stator ]]; then _stator; else compdef _stator stator; fi
)";
constexpr const char* kFish = R"(function __stator
  stator __complete (commandline -opc)[2..] (commandline -ct)
end
complete -c stator -f -n 'string length -q -- (__stator)' -a '(__stator)'
)";

struct CompletionFlags {
  std::string shell;
};

int print_script(const CompletionFlags& flags) {
  const char* script = flags.shell == "zsh" ? kZsh : kFish;
  std::fputs(flags.shell == "bash" ? kBash : script, stdout);
  return kSuccess;
}

// Option groups are nameless subcommands.
bool is_group(const CLI::App& command) {
  return command.get_name().empty();
}

const CLI::App* subcommand_named(const CLI::App& command, const std::string& word) {
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    if (!is_group(*subcommand) && subcommand->get_name() == word) return subcommand;
  }
  return nullptr;
}

const CLI::Option* option_named(const CLI::App& command, const std::string& word) {
  for (const CLI::App* group : command.get_subcommands({})) {
    if (!is_group(*group)) continue;
    if (const CLI::Option* option = option_named(*group, word)) return option;
  }
  return word.starts_with("-") ? command.get_option_no_throw(word) : nullptr;
}

// "a|b|c" in an option's type are its values.
std::vector<std::string> values_of(const CLI::Option& option) {
  std::vector<std::string> values;
  const std::string type = option.get_type_name();
  if (type.find('|') == type.npos) return values;
  std::size_t begin = 0;
  while (begin <= type.size()) {
    const std::size_t end = std::min(type.find('|', begin), type.size());
    values.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

}  // namespace

std::vector<std::string> subcommands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    if (!is_group(*subcommand)) names.push_back(subcommand->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* group : command.get_subcommands({})) {
    if (is_group(*group)) std::ranges::copy(options_of(*group), std::back_inserter(names));
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> complete(const CLI::App& app, std::span<const std::string> words) {
  if (words.empty()) return {};
  const CLI::App* command = &app;
  const CLI::Option* awaiting = nullptr;  // the option that expects a value
  for (const std::string& word : words.first(words.size() - 1)) {
    if (word == "--") return {};
    if (awaiting != nullptr) {
      awaiting = nullptr;
    } else if (const CLI::App* next = subcommand_named(*command, word)) {
      command = next;
    } else if (const CLI::Option* option = option_named(*command, word)) {
      awaiting = option->get_type_size() > 0 ? option : nullptr;
    }
  }
  const std::string& prefix = words.back();
  std::vector<std::string> candidates;
  if (awaiting != nullptr) {
    candidates = values_of(*awaiting);
  } else {
    candidates = prefix.starts_with("-") ? options_of(*command) : subcommands_of(*command);
  }
  std::erase_if(candidates, [&](const std::string& word) { return !word.starts_with(prefix); });
  return candidates;
}

void add_completion(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<CompletionFlags>();
  CLI::App* command =
      app.add_subcommand("completion", "Print the completions for a shell, to be sourced by it");
  command->add_option("shell", flags->shell, "The shell")
      ->type_name("bash|zsh|fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return print_script(*flags); }; });
}

}  // namespace stator::cli
