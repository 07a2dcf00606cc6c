// SPDX-License-Identifier: Apache-2.0
// The rules of a server's test mode. See docs/testing.md.
#pragma once

#include <optional>
#include <string>

#include "stator/http_client.h"

namespace stator {

// Returns the rules with their counts in JSON, after replacing them by `rules` if that is set.
// Errors: those of HttpClient::open() for options; kNotFound if the server has no test mode;
// kUnavailable; those of the server, such as kValidation for wrong rules.
Result<std::string> exchange_test_mode(const HttpClientOptions& options,
                                       const std::optional<std::string>& rules);

}  // namespace stator
