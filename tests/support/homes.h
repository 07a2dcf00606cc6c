// SPDX-License-Identifier: Apache-2.0
// The backends on which a suite for Client runs: in process in memory and on disk, and over HTTP.
// STATOR_TEST_HOMES names others ("postgres": in process in PostgreSQL, "memory,http"). If
// STATOR_TEST_ENDPOINT is a URL, the only backend is that endpoint; tests delete their tables.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stator/client.h"

namespace stator::test {

// A client, and what must live as long as it does: a directory, a server. Gone with all its data.
struct Home {
  struct Parts;
  Home(Home&&) noexcept;
  Home& operator=(Home&&) = delete;
  ~Home();

  std::unique_ptr<Parts> parts;  // outlives the client
  std::unique_ptr<Client> client;
  std::filesystem::path buckets;  // of imports and exports; empty behind STATOR_TEST_ENDPOINT

 private:
  friend Home open_home(const std::string& kind);
  Home();
};

std::vector<std::string> home_kinds();
// For suites about what uses a client: the kinds that STATOR_RECIPE_HOMES names ("http,rocks"),
// otherwise all.
std::vector<std::string> recipe_home_kinds();
Home open_home(const std::string& kind);

// Until the table can be used, or is gone; an endpoint may take its time over either.
void wait_for_table(Client& client, const std::string& table, bool there);

}  // namespace stator::test
