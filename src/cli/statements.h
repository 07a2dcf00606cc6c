// SPDX-License-Identifier: Apache-2.0
// PartiQL statements: several in one text, and all pages of one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/client.h"

namespace stator::cli {

// The statements between semicolons, without white space around them and without empty ones.
// Semicolons in 'text' and "names" do not separate.
std::vector<std::string> split_statements(std::string_view text);

// Calls `take` with each page of a statement's result.
Result<void> run_statement(Client& client, ExecuteStatementRequest request,
                           const std::function<void(ExecuteStatementResult&)>& take);

}  // namespace stator::cli
