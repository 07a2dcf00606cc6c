// SPDX-License-Identifier: Apache-2.0
// stator shell: PartiQL statements and a few commands, one after another.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <set>
#include <sstream>
#include <utility>

#include "api/json/item_json.h"
#include "cli/aws_settings.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/explain.h"
#include "cli/item_output.h"
#include "cli/line_editor.h"
#include "cli/statements.h"
#include "cli/table_access.h"
#include "cli/vector_search.h"
#include "fmt/format.h"

namespace stator::cli {
namespace {

struct ShellFlags {
  EndpointFlags where;
  std::string output;
};

constexpr std::size_t kStatementMax = 1UL << 20;
constexpr std::array kWords = {"SELECT",  "FROM",    "WHERE",  "INSERT", "INTO", "VALUE",
                               "UPDATE",  "SET",     "REMOVE", "DELETE", "AND",  "OR",
                               "NOT",     "BETWEEN", "IN",     "ORDER",  "BY",   "EXISTS",
                               "EXPLAIN", "DESC",    "ASC"};
constexpr const char* kHelp = R"(Statements end with ";":
  SELECT * FROM Orders WHERE customer = 'ann';
  EXPLAIN SELECT * FROM Orders;    how it is read, and what it costs
Commands:
  .tables              list the tables
  .describe TABLE      show a table's keys and indexes
  .search TABLE INDEX [0.25, -1] {"tenant": "x"}
                       the ten items with the nearest vectors, of those with these attributes
  .output FORMAT       table, lines, json, dynamodb or csv
  .help                show this
  .exit                end (or Ctrl-D)
)";

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

std::filesystem::path history_file() {
  const std::string state = environment_variable("XDG_STATE_HOME");
  if (!state.empty()) return std::filesystem::path(state) / "stator" / "history";
  const std::string home = environment_variable("HOME");
  if (home.empty()) return {};
  return std::filesystem::path(home) / ".local" / "state" / "stator" / "history";
}

class Shell {
 public:
  Shell(Client& client, std::string output) : client_(client), output_(std::move(output)) {}

  // Returns false if a statement or a command failed.
  bool run() {
    if (is_terminal_ && load_tables()) load_names();
    LineEditor editor([this](std::string_view word) { return complete(word); }, history_file());
    if (is_terminal_) std::puts("Type .help for help.");
    std::string text;
    while (!ended_) {
      const auto line = editor.read(text.empty() ? "stator> " : "   ...> ");
      if (!line) break;
      if (text.empty() && line->starts_with('.')) {
        check(command(*line));
        continue;
      }
      text += *line + "\n";
      if (text.size() > kStatementMax) {
        check(fail(Code::kInvalidArgument, "the statement is larger than 1 MB"));
        text.clear();
      }
      run_complete_statements(text);
    }
    for (const std::string& statement : split_statements(text)) check(execute(statement));
    return !failed_;
  }

 private:
  void check(const Result<void>& result) {
    if (result) return;
    (void)report(result.error());
    failed_ = true;
  }

  // Runs the statements that end with a semicolon, and leaves the rest in `text`.
  void run_complete_statements(std::string& text) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (end == text.npos) return text.clear();
    if (text[end] != ';') return;
    // The semicolon can be part of a string that is not closed yet.
    std::vector<std::string> with_mark = split_statements(text + "x");
    if (with_mark.empty() || with_mark.back() != "x") return;
    with_mark.pop_back();
    text.clear();
    for (const std::string& statement : with_mark) check(execute(statement));
  }

  Result<void> execute(const std::string& statement) {
    if (const auto explained = statement_to_explain(statement)) {
      return print_explanation(client_, *explained, {});
    }
    ItemOutput output(stdout, output_);
    return run_statement(client_, {.statement = statement}, [&](ExecuteStatementResult& page) {
      for (Item& item : page.items) {
        for (const auto& [name, value] : item) names_.insert(name);
        output.add(std::move(item));
      }
    });
  }

  Result<void> command(const std::string& line) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string name = line.substr(0, space);
    const std::size_t begin = line.find_first_not_of(' ', space);
    std::string argument = begin == line.npos ? "" : line.substr(begin);
    argument.erase(argument.find_last_not_of(' ') + 1);
    if (name == ".tables") {
      STATOR_RETURN_IF_ERROR(load_tables());
      if (is_terminal_) load_names();
      for (const std::string& table : tables_) std::puts(one_line(table).c_str());
    } else if (name == ".describe") {
      STATOR_ASSIGN_OR_RETURN(const DescribeTableResult found,
                              client_.describe_table({.table = argument}));
      std::fputs(table_text(found.table).c_str(), stdout);
    } else if (name == ".search") {
      return search(argument);
    } else if (name == ".output") {
      if (!is_output_format(argument)) {
        return fail(Code::kInvalidArgument,
                    "'" + argument + "' is not table, lines, json, dynamodb or csv");
      }
      output_ = argument;
    } else if (name == ".help") {
      std::fputs(kHelp, stdout);
    } else if (name == ".exit") {
      ended_ = true;
    } else {
      return fail(Code::kInvalidArgument, "unknown command '" + name + "'; type .help for help");
    }
    return {};
  }

  // `argument`: TABLE INDEX, a list of numbers, and optionally an object of attributes that items
  // must have.
  Result<void> search(const std::string& argument) {
    const std::size_t list = argument.find('[');
    const std::size_t end = argument.find(']', std::min(list, argument.size()));
    std::istringstream words(argument.substr(0, list));
    SearchVectorsRequest request{.top_k = 10};
    std::string rest;
    if (end == argument.npos || !(words >> request.table >> request.index) || words >> rest) {
      return fail(Code::kInvalidArgument,
                  "give a table, its vector index and numbers: .search Things near [0.25, -1]");
    }
    STATOR_ASSIGN_OR_RETURN(request.vector, vector_in(argument.substr(list, end + 1 - list)));
    const std::string attributes = argument.substr(end + 1);
    if (attributes.find_first_not_of(' ') != attributes.npos) {
      STATOR_ASSIGN_OR_RETURN(const Item wanted, wire::item_from_plain_json(attributes));
      if (wanted.empty()) return fail(Code::kInvalidArgument, "give attributes, or no object");
      request.condition.emplace();
      request.names.emplace();
      request.values.emplace();
      for (const auto& [attribute, value] : wanted) {
        const std::size_t number = request.names->size();
        request.names->emplace(fmt::format("#n{}", number), attribute);
        request.values->emplace(fmt::format(":v{}", number), value);
        *request.condition += fmt::format("{0}#n{1} = :v{1}", number == 0 ? "" : " AND ", number);
      }
    }
    return print_search(client_, request, output_);
  }

  Result<void> load_tables() {
    tables_.clear();
    return for_each_table(client_, [&](const std::string& table) { tables_.push_back(table); });
  }

  // Loads the names of indexes and key attributes, for completion. Skips tables that cannot be
  // described.
  void load_names() {
    constexpr std::size_t kDescribedMax = 50;
    for (const std::string& table : tables_) {
      if (&table - tables_.data() >= static_cast<std::ptrdiff_t>(kDescribedMax)) break;
      const auto found = client_.describe_table({.table = table});
      if (!found) continue;
      for (const AttributeDefinition& attribute : found->table.attributes) {
        names_.insert(attribute.name);
      }
      for (const auto* indexes : {&found->table.global_indexes, &found->table.local_indexes}) {
        for (const IndexDescription& index : *indexes) names_.insert(index.definition.name);
      }
      for (const VectorIndexDescription& index : found->table.vector_indexes) {
        names_.insert(index.definition.name);
      }
    }
  }

  std::vector<std::string> complete(std::string_view word) const {
    std::vector<std::string> words;
    const auto add = [&](const std::string& one) {
      if (one.starts_with(word)) words.push_back(one);
    };
    for (const char* command : {".tables", ".describe", ".search", ".output", ".help", ".exit"}) {
      add(command);
    }
    std::ranges::for_each(tables_, add);
    std::ranges::for_each(names_, add);
    const std::string shouted = upper(word);
    for (const std::string keyword : kWords) {
      if (!word.empty() && keyword.starts_with(shouted)) words.push_back(keyword);
    }
    return words;
  }

  const bool is_terminal_ = isatty(STDIN_FILENO) == 1;
  Client& client_;
  std::string output_;
  std::vector<std::string> tables_;
  std::set<std::string, std::less<>> names_;
  bool ended_ = false;
  bool failed_ = false;
};

int run_shell(const ShellFlags& flags) {
  const auto client = open_client(flags.where, Missing::kFail);
  if (!client) return report(client.error());
  const bool succeeded = Shell(**client, flags.output).run();
  // A person has seen the errors; a script needs the status.
  return succeeded || isatty(STDIN_FILENO) == 1 ? kSuccess : kFailure;
}

}  // namespace

void add_shell(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ShellFlags>();
  CLI::App* command =
      app.add_subcommand("shell", "Type PartiQL statements, with history and completion");
  add_endpoint_flags(*command, flags->where);
  add_output_flag(*command, flags->output);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_shell(*flags); }; });
}

}  // namespace stator::cli
