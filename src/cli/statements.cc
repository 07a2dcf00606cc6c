// SPDX-License-Identifier: Apache-2.0
#include "cli/statements.h"

#include <utility>

namespace stator::cli {
namespace {

void add_trimmed(std::string_view text, std::vector<std::string>& statements) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return;
  statements.emplace_back(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

// The end of the token at `at`: a quoted string, or one character.
std::size_t end_of_token(std::string_view text, std::size_t at) {
  if (text[at] != '\'' && text[at] != '"') return at + 1;
  // A doubled quote within the text ends one token and begins the next.
  const std::size_t close = text.find(text[at], at + 1);
  return close == text.npos ? text.size() : close + 1;
}

}  // namespace

std::vector<std::string> split_statements(std::string_view text) {
  std::vector<std::string> statements;
  std::size_t begin = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ';') {
      add_trimmed(text.substr(begin, at - begin), statements);
      begin = at + 1;
    }
    at = end_of_token(text, at);
  }
  add_trimmed(text.substr(begin), statements);
  return statements;
}

Result<void> run_statement(Client& client, ExecuteStatementRequest request,
                           const std::function<void(ExecuteStatementResult&)>& take) {
  do {
    STATOR_ASSIGN_OR_RETURN(ExecuteStatementResult page, client.execute_statement(request));
    take(page);
    request.next_token = std::move(page.next_token);
  } while (request.next_token);
  return {};
}

}  // namespace stator::cli
