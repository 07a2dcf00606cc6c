// SPDX-License-Identifier: Apache-2.0
#include "cli/store_flags.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/aws_settings.h"
#include "storage/postgres/store_url.h"

namespace stator::cli {

StoreOptions add_store_flags(CLI::App& command, StoreFlags& flags) {
  CLI::Option* store = command.add_option(
      "--store", flags.url,
      "A database of PostgreSQL, postgresql://USER@HOST:PORT/DATABASE, without a password. "
      "Default: $STATOR_STORE, which can have one");
  store->type_name("URL");
  CLI::Option* schema =
      command.add_option("--schema", flags.schema, "The schema of the tables in that database");
  schema->type_name("NAME")->capture_default_str();
  return {.store = store, .schema = schema};
}

Result<NamedStore> named_store(const StoreFlags& flags) {
  std::string url = flags.url.empty() ? environment_variable(kStoreVariable) : flags.url;
  if (url.empty() && flags.schema != StoreFlags().schema) {
    return fail(Code::kInvalidArgument, "--schema needs --store or STATOR_STORE");
  }
  if (url.empty()) return NamedStore();
  STATOR_ASSIGN_OR_RETURN(PostgresUrl parsed, parse_postgres_url(url));
  if (!flags.url.empty() && parsed.has_password) {
    return fail(Code::kInvalidArgument,
                "the URL of --store contains a password, which every user of this machine can "
                "read; set STATOR_STORE to the URL, or PGPASSWORD, or use ~/.pgpass");
  }
  return NamedStore{.url = std::move(parsed.url), .name = std::move(parsed.name)};
}

}  // namespace stator::cli
