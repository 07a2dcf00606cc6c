// SPDX-License-Identifier: Apache-2.0
// The backends of a suite for Client: in process in memory and on disk, and over HTTP.
// STATOR_TEST_HOMES selects others ("postgres": in process on PostgreSQL, "memory,http"). If
// STATOR_TEST_ENDPOINT is a URL, the only backend is that endpoint. Tests delete their tables.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stator/client.h"

namespace stator::test {

// A client and its backend: a directory or a server. The destructor deletes all data.
struct Home {
  struct Parts;
  Home(Home&&) noexcept;
  Home& operator=(Home&&) = delete;
  ~Home();

  std::unique_ptr<Parts> parts;  // outlives the client
  std::unique_ptr<Client> client;
  std::filesystem::path buckets;  // directory of the buckets; empty with STATOR_TEST_ENDPOINT

 private:
  friend Home open_home(const std::string& kind);
  Home();
};

std::vector<std::string> home_kinds();
// For suites of recipes: the kinds in STATOR_RECIPE_HOMES ("http,rocks"), or all kinds.
std::vector<std::string> recipe_home_kinds();
Home open_home(const std::string& kind);

// Waits until the table can be used, or has been deleted. An endpoint can take some time for
// either.
void wait_for_table(Client& client, const std::string& table, bool there);

}  // namespace stator::test
