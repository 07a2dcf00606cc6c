// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

namespace stator::cli {
namespace {

constexpr std::string_view kExample = "Example: ";
constexpr std::string_view kExitStatus = "Exit status: ";

// Escapes text so that troff prints it unchanged: commands must keep their ASCII characters.
std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    switch (text[i]) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      default:
        result += text[i];
    }
  }
  constexpr std::string_view kEllipsis = "…";  // not in every terminal's character set
  for (auto at = result.find(kEllipsis); at != result.npos; at = result.find(kEllipsis, at)) {
    result.replace(at, kEllipsis.size(), "...");
  }
  return result;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

// Escapes the text and ends it with a period, unless it ends with other punctuation.
std::string sentence(std::string text) {
  if (!text.empty() && std::string_view(".:?!").find(text.back()) == std::string_view::npos) {
    text += '.';
  }
  return escaped(text) + "\n";
}

std::vector<const CLI::App*> commands_below(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* below) { return !below->get_name().empty(); });
}

// The options of the command and of its groups, except --help.
std::vector<const CLI::Option*> options_of_page(const CLI::App& command) {
  std::vector<const CLI::Option*> options = command.get_options(
      [&](const CLI::Option* option) { return option != command.get_help_ptr(); });
  for (const CLI::App* group : command.get_subcommands({})) {
    if (!group->get_name().empty()) continue;
    std::ranges::copy(options_of_page(*group), std::back_inserter(options));
  }
  return options;
}

bool is_repeated(const CLI::Option& option) {
  return option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::string synopsis(const CLI::App& command, const std::string& path) {
  std::string text = bold(path);
  if (!commands_below(command).empty()) return text + " " + italic("COMMAND") + " ...";
  text += " [" + italic("OPTION") + "]...";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    std::string name = italic(option->get_single_name());
    if (is_repeated(*option)) name += "...";
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string tag_of(const CLI::Option& option) {
  if (option.get_positional()) return italic(option.get_single_name());
  std::string names;
  for (const std::string& name : option.get_snames()) names += bold("-" + name) + ", ";
  for (const std::string& name : option.get_lnames()) names += bold("--" + name) + ", ";
  names.resize(names.size() - std::string_view(", ").size());
  if (option.get_type_size() > 0) names += " " + italic(option.get_type_name());
  return names;
}

std::string description_of(const CLI::Option& option) {
  std::string text = sentence(option.get_description());
  if (!option.get_default_str().empty()) text += sentence("Default: " + option.get_default_str());
  std::vector<std::string> excluded;
  for (const CLI::Option* other : option.get_excludes()) excluded.push_back(other->get_name());
  std::ranges::sort(excluded);  // the library orders them by address
  for (const std::string& name : excluded) text += sentence("Not together with " + name);
  return text;
}

std::string options_text(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : options_of_page(command)) {
    text += ".TP\n" + tag_of(*option) + "\n" + description_of(*option);
  }
  return text;
}

struct Footer {
  std::string example;
  std::string exit_status;
  std::string rest;
};
Footer footer_of(const CLI::App& command) {
  Footer footer;
  const std::string lines = command.get_footer();
  std::string_view text = lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(kExample)) {
      footer.example = line.substr(kExample.size());
    } else if (line.starts_with(kExitStatus)) {
      footer.exit_status = line.substr(kExitStatus.size());
    } else {
      footer.rest += line;
      footer.rest += '\n';
    }
  }
  return footer;
}

std::string example_text(const std::string& example) {
  return ".PP\n.EX\n" + escaped(example) + "\n.EE\n";
}

// The section of a subcommand in the page of its parent.
std::string part_of(const CLI::App& command, const std::string& path) {
  std::string text = ".SS " + escaped(path) + "\n" + synopsis(command, path) + "\n.PP\n" +
                     sentence(command.get_description()) + options_text(command);
  const Footer footer = footer_of(command);
  if (!footer.example.empty()) text += example_text(footer.example);
  for (const CLI::App* below : commands_below(command)) {
    text += part_of(*below, path + " " + below->get_name());
  }
  return text;
}

std::string header(const std::string& name, const std::string& version,
                   const std::string& description) {
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  const std::string first_line = description.substr(0, description.find('\n'));
  return fmt::format(".TH {} 1 \"\" \"stator {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", upper,
                     version, name, escaped(first_line));
}

std::string page_of(const CLI::App& command, const std::string& version) {
  const std::string path = "stator " + command.get_name();
  const Footer footer = footer_of(command);
  std::string page = header("stator-" + command.get_name(), version, command.get_description()) +
                     ".SH SYNOPSIS\n" + synopsis(command, path) + "\n.SH DESCRIPTION\n" +
                     sentence(command.get_description());
  if (!footer.rest.empty()) page += ".PP\n" + escaped(footer.rest);
  if (const std::string options = options_text(command); !options.empty()) {
    page += ".SH OPTIONS\n" + options;
  }
  if (const auto below = commands_below(command); !below.empty()) {
    page += ".SH COMMANDS\n";
    for (const CLI::App* part : below) page += part_of(*part, path + " " + part->get_name());
  }
  if (!footer.example.empty()) page += ".SH EXAMPLES\n" + example_text(footer.example);
  page += ".SH EXIT STATUS\n" + sentence(footer.exit_status);
  return page + ".SH SEE ALSO\n.BR stator (1)\n";
}

std::string main_page(const CLI::App& app, const std::string& version) {
  std::string page =
      header("stator", version, "the DynamoDB API in one engine, in process or over the wire") +
      ".SH SYNOPSIS\n" + synopsis(app, "stator") + "\n.SH DESCRIPTION\n" +
      sentence(app.get_description()) + ".SH OPTIONS\n" + ".TP\n" + bold("--help") + ", " +
      bold("-h") + "\nPrint help, also after each command.\n" + options_text(app) +
      ".SH COMMANDS\n";
  for (const CLI::App* command : commands_below(app)) {
    const std::string name = "stator-" + command->get_name();
    const std::string& text = command->get_description();
    page += ".TP\n.BR " + escaped(name) + " (1)\n" + sentence(text.substr(0, text.find('\n')));
  }
  page += ".SH EXIT STATUS\n" + sentence(footer_of(app).exit_status);
  return page;
}

}  // namespace

std::map<std::string, std::string> manual_pages(const CLI::App& app, const std::string& version) {
  std::map<std::string, std::string> pages;
  pages["stator.1"] = main_page(app, version);
  for (const CLI::App* command : commands_below(app)) {
    pages["stator-" + command->get_name() + ".1"] = page_of(*command, version);
  }
  return pages;
}

Result<void> write_manual(const CLI::App& app, const std::string& version,
                          const std::string& directory) {
  for (const auto& [name, page] : manual_pages(app, version)) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    std::ofstream file(path, std::ios::binary);
    file << page << std::flush;
    if (!file) return fail(Code::kIo, "could not write '" + path.string() + "'");
  }
  return {};
}

}  // namespace stator::cli
