// SPDX-License-Identifier: Apache-2.0
// EXPLAIN: prints the plan and the cost of a PartiQL statement.
#pragma once

#include <optional>
#include <string_view>

#include "stator/client.h"

namespace stator::cli {

// The statement after EXPLAIN; std::nullopt if the text does not begin with that word.
std::optional<std::string_view> statement_to_explain(std::string_view text);

struct ExplainOptions {
  bool consistent = false;
  bool json = false;  // one JSON object instead of lines of text
};

// Prints to standard output. A SELECT is run to its end, and its items are counted. Other
// statements are not run. Errors: those of DescribeTable and ExecuteStatement; kValidation for a
// malformed statement.
Result<void> print_explanation(Client& client, std::string_view statement,
                               const ExplainOptions& options);

}  // namespace stator::cli
