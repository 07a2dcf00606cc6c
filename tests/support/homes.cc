// SPDX-License-Identifier: Apache-2.0
#include "support/homes.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "server/server.h"
#include "stator/database.h"
#include "stator/http_client.h"
#include "storage/postgres/postgres_fixture.h"
#include "support/must.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

const char* endpoint() {
  return std::getenv("STATOR_TEST_ENDPOINT");
}

// The kinds in a variable, separated by commas; absent if it is not set.
std::optional<std::vector<std::string>> chosen_by(const char* variable,
                                                  const std::vector<std::string>& kinds) {
  const char* named = std::getenv(variable);
  if (named == nullptr) return std::nullopt;
  std::vector<std::string> chosen;
  for (const auto part : std::views::split(std::string_view(named), ',')) {
    const std::string kind(part.begin(), part.end());
    if (std::ranges::find(kinds, kind) == kinds.end()) throw std::invalid_argument(variable);
    chosen.push_back(kind);
  }
  return chosen;
}

}  // namespace

struct Home::Parts {
  TempDir directory;
  std::optional<PostgresSchema> schema;
  std::unique_ptr<server::Server> server;
};

Home::Home() : parts(std::make_unique<Parts>()) {}
Home::Home(Home&&) noexcept = default;
Home::~Home() = default;

std::vector<std::string> home_kinds() {
  if (endpoint() != nullptr) return {"endpoint"};
  return chosen_by("STATOR_TEST_HOMES", {"memory", "rocks", "http", "postgres"})
      .value_or(std::vector<std::string>{"memory", "rocks", "http"});
}

std::vector<std::string> recipe_home_kinds() {
  const std::vector<std::string> kinds = home_kinds();
  return chosen_by("STATOR_RECIPE_HOMES", kinds).value_or(kinds);
}

Home open_home(const std::string& kind) {
  Home home;
  if (kind == "endpoint") {
    home.client = std::make_unique<HttpClient>(must(HttpClient::open({.endpoint = endpoint()})));
    return home;
  }
  home.buckets = home.parts->directory.path() / "buckets";
  std::filesystem::create_directory(home.buckets);
  if (kind == "http") {
    home.parts->server = must(server::Server::start(
        {.buckets = home.buckets, .listen = {.host = "127.0.0.1", .port = 0}}));
    home.client = std::make_unique<HttpClient>(
        must(HttpClient::open({.endpoint = home.parts->server->url()})));
    return home;
  }
  DatabaseOptions options{.durability = Durability::kOs, .buckets = home.buckets};
  if (kind == "rocks") options.path = home.parts->directory.path() / "data";
  if (kind == "postgres") {
    home.parts->schema.emplace();
    options.store = postgres_url();
    options.schema = home.parts->schema->name();
  }
  home.client = std::make_unique<Database>(must(Database::open(options)));
  return home;
}

void wait_for_table(Client& client, const std::string& table, bool there) {
  for (int polls = 0; polls < 1'000; ++polls) {
    const auto found = client.describe_table({.table = table});
    if (!found && !there) return;
    if (found && there && found->table.status == TableStatus::kActive) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace stator::test
