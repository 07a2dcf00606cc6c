// SPDX-License-Identifier: Apache-2.0
// EXPLAIN: what a PartiQL statement reads or writes, and what it cost.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/client.h"

namespace stator::cli {

// Pairs of a name and a text. A SELECT is run to its end, and its items are counted. Other
// statements are not run. Errors: those of DescribeTable and ExecuteStatement; kValidation for a
// malformed statement.
Result<std::vector<std::pair<std::string, std::string>>> explain(Client& client,
                                                                 std::string_view statement);

}  // namespace stator::cli
