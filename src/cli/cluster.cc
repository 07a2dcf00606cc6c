// SPDX-License-Identifier: Apache-2.0
// stator cluster: prepares and shows a database of PostgreSQL, which several servers share.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/commands.h"
#include "cli/store_flags.h"
#include "cli/table_access.h"
#include "storage/postgres/postgres_cluster.h"
#include "storage/postgres/postgres_store.h"

namespace stator::cli {
namespace {

struct ClusterFlags {
  StoreFlags store;
  bool json = false;
};

Result<PostgresStoreOptions> store_of(const ClusterFlags& flags) {
  STATOR_ASSIGN_OR_RETURN(NamedStore store, named_store(flags.store));
  if (store.url.empty()) {
    return fail(Code::kInvalidArgument, "no database is named; give --store or set STATOR_STORE");
  }
  return PostgresStoreOptions{.dsn = std::move(store.url), .schema = flags.store.schema};
}

int run_init(const ClusterFlags& flags) {
  const auto store = store_of(flags);
  if (!store) return report(store.error());
  if (const auto done = initialize_postgres_store(*store); !done) return report(done.error());
  if (flags.json) {
    std::puts(wire::item_to_plain_json({{"schema", store->schema}}).c_str());
  } else {
    std::printf("schema '%s' is ready\n", store->schema.c_str());
  }
  return kSuccess;
}

int run_upgrade(const ClusterFlags& flags) {
  const auto store = store_of(flags);
  if (!store) return report(store.error());
  const auto version = upgrade_postgres_store(*store);
  if (!version) return report(version.error());
  if (flags.json) {
    std::puts(wire::item_to_plain_json({{"schema", store->schema}, {"version", *version}}).c_str());
  } else {
    std::printf("schema '%s' has version %d, the newest; nothing to upgrade\n",
                store->schema.c_str(), *version);
  }
  return kSuccess;
}

void print_status_json(const std::string& schema, const PostgresStatus& status) {
  Item item{{"ready", status.problem.empty()},
            {"server_version", status.server_version},
            {"address", status.address},
            {"database", status.database},
            {"role", status.role},
            {"schema", schema},
            {"bytes", status.bytes},
            {"connections", status.connections},
            {"stator_connections", status.own_connections},
            {"connections_max", status.connections_max},
            {"synchronous_commit", status.synchronous_commit},
            {"synchronous_standby_names", status.synchronous_standbys}};
  if (!status.problem.empty()) item["problem"] = status.problem;
  if (!status.risk.empty()) item["warning"] = status.risk;
  if (status.schema_version) item["schema_version"] = *status.schema_version;
  if (status.rows) item["rows_estimate"] = *status.rows;
  if (status.horizon_lag_s) {
    item["horizon_lag_ms"] = static_cast<int64_t>(*status.horizon_lag_s * 1000);
  }
  if (status.horizon_process != 0) item["horizon_process"] = status.horizon_process;
  std::puts(wire::item_to_plain_json(item).c_str());
}

std::string horizon_text(const PostgresStatus& status) {
  if (status.horizon_process == 0) return "no transaction holds them back";
  if (!status.horizon_lag_s) {
    return fmt::format(
        "held back by process {} of another role; grant pg_read_all_stats to see how long",
        status.horizon_process);
  }
  return fmt::format("held back for {:.1f} s, by process {}", *status.horizon_lag_s,
                     status.horizon_process);
}

void print_status_text(const std::string& schema, const PostgresStatus& status) {
  const auto line = [](const char* name, const std::string& text) {
    std::printf("%-20s%s\n", name, one_line(text).c_str());
  };
  line("PostgreSQL", fmt::format("{} at {}, database {}, role {}", status.server_version,
                                 status.address, status.database, status.role));
  line("schema", status.schema_version
                     ? fmt::format("{}, version {}", schema, *status.schema_version)
                     : schema);
  line("rows", fmt::format("{}, {}",
                           status.rows ? fmt::format("about {}", *status.rows) : "not counted yet",
                           size_text(status.bytes)));
  line("streams", horizon_text(status));
  line("connections", fmt::format("{} of {}, {} by Stator", status.connections,
                                  status.connections_max, status.own_connections));
  line("synchronous_commit",
       fmt::format("{}, standbys: {}", status.synchronous_commit,
                   status.synchronous_standbys.empty() ? "none" : status.synchronous_standbys));
  if (!status.risk.empty()) line("warning", status.risk);
}

int run_status(const ClusterFlags& flags) {
  const auto store = store_of(flags);
  if (!store) return report(store.error());
  const auto status = read_postgres_status(*store);
  if (!status) return report(status.error());
  if (flags.json) {
    print_status_json(store->schema, *status);
  } else {
    print_status_text(store->schema, *status);
  }
  if (status->problem.empty()) return kSuccess;
  std::fflush(stdout);
  report({.code = Code::kUnavailable, .message = status->problem});
  return kFailure;
}

}  // namespace

void add_cluster(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ClusterFlags>();
  CLI::App* cluster =
      app.add_subcommand("cluster", "Prepare a database of PostgreSQL that several servers share");
  cluster->require_subcommand(1);
  const auto add = [&](const char* name, const char* description, int (*run)(const ClusterFlags&)) {
    CLI::App* command = cluster->add_subcommand(name, description);
    add_store_flags(*command, flags->store);
    add_json_flag(*command, flags->json);
    command->callback(
        [&invocation, flags, run] { invocation.run = [flags, run] { return run(*flags); }; });
    return command;
  };
  add("init", "Create the schema and its tables; existing data of Stator is kept", run_init);
  add("status", "Show the server, the schema, its size and its connections", run_status)
      ->footer("Exit status: 0 if a server could use the database, otherwise 1.");
  add("upgrade", "Bring the schema to the version that this program uses", run_upgrade);
}

}  // namespace stator::cli
