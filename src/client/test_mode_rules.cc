// SPDX-License-Identifier: Apache-2.0
#include "client/test_mode_rules.h"

#include <utility>

#include "api/wire/wire.h"
#include "client/curl_transport.h"
#include "protocol/facts.h"

namespace stator {

Result<std::string> exchange_test_mode(const HttpClientOptions& options,
                                       const std::optional<std::string>& rules) {
  if (auto checked = HttpClient::open(options); !checked) return failure_of(std::move(checked));
  auto response =
      CurlTransport(options).exchange(protocol::kTestModePath, rules ? &*rules : nullptr);
  if (!response) return fail(Code::kUnavailable, response.error().message);
  constexpr int kOk = 200;
  constexpr int kNotFound = 404;
  if (response->status == kOk) return std::move(response->body);
  if (response->status == kNotFound) {
    return fail(Code::kNotFound,
                options.endpoint + " has no test mode; start it with stator serve --test-mode");
  }
  return Failure(wire::read_error(response->status, response->body));
}

}  // namespace stator
