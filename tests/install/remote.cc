// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "stator/http_client.h"

int main() {
  auto client = stator::HttpClient::open({.endpoint = "http://127.0.0.1:1", .max_attempts = 1});
  if (!client) return std::cerr << client.error().message << '\n', 1;
  const auto listed = client->list_tables({});
  std::cout << (listed ? "ok" : stator::code_name(listed.error().code)) << '\n';
}
