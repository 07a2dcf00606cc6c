// SPDX-License-Identifier: Apache-2.0
// Searches of vectors by `stator search` and by the shell.
#pragma once

#include <string>
#include <vector>

#include "stator/client.h"

namespace stator::cli {

// Parses a list of numbers in JSON. Errors: kInvalidArgument for other text.
Result<std::vector<float>> vector_in(const std::string& json);

// Prints the scores and the items that are found in a format of item_output.h. Errors: those of
// Client.
Result<void> print_search(Client& client, const SearchVectorsRequest& request,
                          const std::string& format);

}  // namespace stator::cli
