// SPDX-License-Identifier: Apache-2.0
#include "cli/endpoint.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "stator/database.h"
#include "stator/http_client.h"

namespace stator::cli {
namespace {

// Less than a second of pauses in all: whoever waits at a shell had better be told.
constexpr int kAttempts = 6;

std::string from_environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

}  // namespace

void add_endpoint_flags(CLI::App& command, EndpointFlags& flags) {
  CLI::Option_group* where = command.add_option_group("Where the tables are");
  where->add_option("--data", flags.data, "A data directory, opened in this process")
      ->type_name("DIR")
      ->check(CLI::Validator(
          [](const std::string& path) { return path.empty() ? "the name is empty" : ""; }, ""));
  where->add_option("--endpoint", flags.endpoint, "A server: stator serve, Amazon DynamoDB, …")
      ->type_name("URL");
  where->require_option(1);
  command.add_option("--region", flags.region, "Of the endpoint, for the signature")
      ->type_name("REGION")
      ->capture_default_str();
}

Result<std::unique_ptr<Client>> open_client(const EndpointFlags& flags) {
  if (!flags.data.empty()) {
    STATOR_TRY(Database database, Database::open({.path = flags.data}));
    return std::make_unique<Database>(std::move(database));
  }
  STATOR_TRY(
      HttpClient client,
      HttpClient::open(
          {.endpoint = flags.endpoint,
           .region = flags.region,
           .credentials = {.access_key_id = from_environment("AWS_ACCESS_KEY_ID", "stator"),
                           .secret_access_key = from_environment("AWS_SECRET_ACCESS_KEY", "stator"),
                           .session_token = from_environment("AWS_SESSION_TOKEN", "")},
           .max_attempts = kAttempts}));
  return std::make_unique<HttpClient>(std::move(client));
}

}  // namespace stator::cli
