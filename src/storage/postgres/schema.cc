// SPDX-License-Identifier: Apache-2.0
// Row keys are (p, s): the first kPartitionBytes, and the rest. The tables:
//
// * kv: the rows. `ver` is the commit version of the row's last writer, which guards compare. It is
//   not a counter: a row that was erased and created again has a new version.
// * request: one row for each CommitCall that wrote something, or a tombstone. A
//   tombstone has no commit version (`stamp`); a call with its id fails. `slot` is the day
//   modulo 4. Calls of yesterday, today and tomorrow are accepted, so the fourth slot can be
//   emptied.
// * meta: one row about all data.
//
// A commit version is the shifted transaction id plus an ordinal. On another server, transaction
// ids begin again. So `stamp_base` is greater than all commit versions of the previous server.
#include "storage/postgres/schema.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "storage/postgres/contents.h"
#include "storage/postgres/libpq_library.h"

namespace stator::postgres {
namespace {

constexpr int kPartitions = 8;
constexpr int kServerVersionMin = 150'000;
constexpr std::chrono::hours kInitializeTimeout{1};  // it reads every row of a restored copy

constexpr std::string_view kTables = R"(
CREATE TABLE meta (
  version int4 NOT NULL,
  system_identifier int8 NOT NULL,
  stamp_base int8 NOT NULL
);
CREATE TABLE kv (
  p bytea NOT NULL,
  s bytea NOT NULL,
  ver int8 NOT NULL,
  v bytea NOT NULL,
  PRIMARY KEY (p, s)
) PARTITION BY HASH (p);
CREATE TABLE request (
  slot int2 NOT NULL,
  id uuid NOT NULL,
  stamp int8,
  conflicts int4[],
  changed int4[],
  settled bool NOT NULL DEFAULT false,
  PRIMARY KEY (slot, id)
) PARTITION BY LIST (slot);
CREATE TABLE request_0 PARTITION OF request FOR VALUES IN (0);
CREATE TABLE request_1 PARTITION OF request FOR VALUES IN (1);
CREATE TABLE request_2 PARTITION OF request FOR VALUES IN (2);
CREATE TABLE request_3 PARTITION OF request FOR VALUES IN (3);
)";

// @base@ is meta.stamp_base.
constexpr std::string_view kFunctions = R"(
CREATE OR REPLACE FUNCTION this_day() RETURNS int4 LANGUAGE sql VOLATILE AS
$$ SELECT floor(extract(epoch FROM clock_timestamp()) / 86400)::int4 $$;

CREATE OR REPLACE FUNCTION safe_position() RETURNS int8 LANGUAGE sql STABLE AS
$$ SELECT @base@ + (pg_snapshot_xmin(pg_current_snapshot())::text::int8 << 12) $$;

CREATE OR REPLACE FUNCTION sweep_requests() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  day int4 := this_day();
  unused text := format('request_%s', (day + 2) % 4);
  is_used bool;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT FROM %I)', unused) INTO is_used;
  IF NOT is_used THEN RETURN; END IF;
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', unused);
  IF this_day() = day THEN EXECUTE format('TRUNCATE %I', unused); END IF;
END $$;
)";

std::string functions(std::string_view base) {
  constexpr std::string_view kBase = "@base@";
  std::string sql(kFunctions);
  for (std::size_t at = 0; (at = sql.find(kBase, at)) != std::string::npos;) {
    sql.replace(at, kBase.size(), fmt::format("{}::int8", base));
  }
  return sql;
}

std::string tables() {
  std::string sql(kTables);
  for (int i = 0; i < kPartitions; ++i) {
    sql += fmt::format(
        "CREATE TABLE kv_{} PARTITION OF kv FOR VALUES WITH (MODULUS {}, REMAINDER {}) "
        "WITH (fillfactor = 90);\n",
        i, kPartitions, i);
  }
  return sql;
}

Failure unreachable(const SqlError& error) {
  if (error.state != kLostState) return Failure(to_error(error));
  return fail(Code::kUnavailable,
              fmt::format("could not connect to PostgreSQL: {}; check the connection string and "
                          "that the server runs",
                          error.message));
}

// Sets up the session and returns facts about the server. In a session of a pooler, returns no row
// and sets nothing. The facts are read first, so they are those before the setup. Parameters: the
// schema, the server process, lock_timeout, idle_in_transaction_session_timeout.
//
// Every statement reads by key, so plans never depend on statistics. A process that stops between
// two statements loses its locks. No timeout of the server may end a commit that waits for a
// standby. A session keeps its synchronous_commit; it replaces `local` by `on`, which is equal
// without standbys.
constexpr std::string_view kSetUp = R"(
SELECT version(), current_setting('server_version_num'), pg_is_in_recovery()::text,
  current_setting('transaction_read_only'), current_setting('synchronous_commit'),
  (current_setting('synchronous_standby_names') <> '')::text,
  current_setting('max_prepared_transactions'), (SELECT count(*) > 0 FROM pg_class AS c
     JOIN pg_namespace AS n ON n.oid = c.relnamespace
   WHERE n.nspname = '{0}' AND c.relname = 'meta')::text,
  current_setting('fsync'), current_setting('full_page_writes'),
  (SELECT count(set_config(s.name, s.value, false)) FROM (VALUES
     ('search_path', '"{0}"'),
     ('client_min_messages', 'warning'),
     ('default_transaction_isolation', 'read committed'),
     ('plan_cache_mode', 'force_generic_plan'),
     ('enable_seqscan', 'off'),
     ('enable_bitmapscan', 'off'),
     ('enable_hashjoin', 'off'),
     ('enable_mergejoin', 'off'),
     ('enable_sort', 'off'),
     ('jit', 'off'),
     ('statement_timeout', '0'),
     ('transaction_timeout', '0'),
     ('idle_session_timeout', '0'),
     ('lock_timeout', '{2}'),
     ('idle_in_transaction_session_timeout', '{3}'),
     ('synchronous_commit', CASE current_setting('synchronous_commit')
                            WHEN 'local' THEN 'on'
                            ELSE current_setting('synchronous_commit') END)
   ) AS s(name, value) WHERE current_setting(s.name, true) IS NOT NULL)
WHERE pg_backend_pid() = {1}
)";

std::string text_at(const Rows& rows, int column) {
  return std::string(rows.bytes(0, column));
}

Result<ServerFacts> set_up(Connection& connection, const ConnectionOptions& options) {
  const auto rows = connection.run_script(
      fmt::format(kSetUp, options.schema, connection.backend_pid(), options.lock_timeout.count(),
                  2 * options.response_timeout.count()));
  if (!rows) return Failure(to_error(rows.error()));
  if (rows->count() == 0) {
    return fail(Code::kInvalidArgument,
                "a connection pooler stands before PostgreSQL, and sessions of a pooler do not "
                "last; connect to PostgreSQL itself");
  }
  return ServerFacts{.name = text_at(*rows, 0),
                     .version = std::stoi(text_at(*rows, 1)),
                     .is_standby = text_at(*rows, 2) == "true",
                     .is_read_only = text_at(*rows, 3) == "on",
                     .synchronous_commit = text_at(*rows, 4),
                     .has_synchronous_standbys = text_at(*rows, 5) == "true",
                     .fsync = text_at(*rows, 8) == "on",
                     .full_page_writes = text_at(*rows, 9) == "on",
                     .max_prepared_transactions = std::stoi(text_at(*rows, 6)),
                     .has_data = text_at(*rows, 7) == "true"};
}

// Returns no value if there is no row.
std::optional<DataFacts> data_facts(const Rows& rows) {
  if (rows.count() == 0) return std::nullopt;
  return DataFacts{.version = std::stoi(text_at(rows, 0)),
                   .is_moved = text_at(rows, 1) == "true",
                   .next = LogPosition{std::stoull(text_at(rows, 2))}};
}

Result<std::optional<DataFacts>> read_data_facts(Connection& connection) {
  const auto rows = connection.run_script(statement_text(Statement::kDataFacts).sql);
  if (!rows) return Failure(to_error(rows.error()));
  return data_facts(*rows);
}

Failure no_data(const std::string& schema) {
  return fail(Code::kNotFound,
              fmt::format("schema '{}' has no data of Stator; run `stator cluster init`", schema));
}

std::string creation(bool has_data) {
  if (!has_data) {
    return tables() + functions("0") + "INSERT INTO meta SELECT " + std::to_string(kSchemaVersion) +
           ", system_identifier, 0 FROM pg_control_system();\n";
  }
  return "UPDATE meta SET system_identifier = (SELECT system_identifier FROM pg_control_system()), "
         "stamp_base = greatest(stamp_base, coalesce((SELECT max(ver) FROM kv), 0));\n";
}

SqlResult<void> create_or_adapt(Connection& connection, bool has_data) {
  auto done = connection.run_script(creation(has_data));
  if (!done) return std::unexpected(std::move(done).error());
  const auto base = connection.run_script("SELECT stamp_base FROM meta");
  if (!base) return std::unexpected(base.error());
  done = connection.run_script(functions(base->bytes(0, 0)));
  if (!done) return std::unexpected(std::move(done).error());
  return {};
}

// Runs the whole transaction. After an error, the caller closes `connection`.
Result<void> initialize_on(Connection& connection, const ConnectionOptions& options) {
  const auto run = [&](const std::string& sql) -> Result<void> {
    if (auto done = connection.run_script(sql); !done) return Failure(to_error(done.error()));
    return {};
  };
  // The lock is derived from the schema's name: two processes that initialize the schema take
  // turns.
  STATOR_RETURN_IF_ERROR(run(fmt::format(
      "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('{0}', 0))", options.schema)));
  const auto contents = read_contents(connection, options.schema);
  if (!contents) return Failure(to_error(contents.error()));
  STATOR_RETURN_IF_ERROR(check_may_create(*contents, options.schema));
  if (!contents->exists) {
    STATOR_RETURN_IF_ERROR(run(fmt::format("CREATE SCHEMA \"{}\"", options.schema)));
  }
  std::optional<DataFacts> facts;
  if (contents->has_stator) {
    STATOR_ASSIGN_OR_RETURN(facts, read_data_facts(connection));
  }
  if (facts && facts->version > kSchemaVersion) return check_data(*facts, options.schema, {});
  if (!facts || facts->is_moved) {
    if (auto done = create_or_adapt(connection, facts.has_value()); !done) {
      return Failure(to_error(done.error()));
    }
  }
  return run("COMMIT");
}

struct Opened {
  std::unique_ptr<Connection> connection;
  ServerFacts facts;
};

// Opens a connection to a suitable server, with or without data.
Result<Opened> open_checked(const ConnectionOptions& options, Target target) {
  STATOR_RETURN_IF_ERROR(check_options(options));
  auto connection = Connection::connect(options, target == Target::kReadWrite);
  if (!connection) return unreachable(connection.error());
  STATOR_ASSIGN_OR_RETURN(ServerFacts facts, set_up(**connection, options));
  STATOR_RETURN_IF_ERROR(check_server(facts));
  return Opened{.connection = std::move(*connection), .facts = std::move(facts)};
}

}  // namespace

Result<void> check_options(const ConnectionOptions& options) {
  STATOR_RETURN_IF_ERROR(load_libpq());
  if (is_schema_name(options.schema)) return {};
  return fail(
      Code::kInvalidArgument,
      fmt::format("invalid schema name '{}'; use 1 to 63 lower-case letters, digits and '_'",
                  options.schema));
}

Result<void> check_server(const ServerFacts& facts) {
  // Engines with PostgreSQL's protocol report versions of PostgreSQL. YugabyteDB's names begin with
  // that of PostgreSQL.
  if (!facts.name.starts_with("PostgreSQL ") || facts.name.contains("-YB-")) {
    return fail(Code::kInvalidArgument,
                fmt::format("the server is {}, which lacks functions of PostgreSQL that the store "
                            "needs; use PostgreSQL 15 or later",
                            facts.name));
  }
  if (facts.version < kServerVersionMin) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("PostgreSQL {} is too old; use version 15 or later", facts.version / 10'000));
  }
  if (facts.is_standby) {
    return fail(Code::kUnavailable,
                "PostgreSQL is a standby server; connect to the primary, or list all hosts with "
                "target_session_attrs=read-write");
  }
  if (facts.is_read_only) {
    return fail(Code::kUnavailable,
                "PostgreSQL's sessions are read-only; set default_transaction_read_only=off");
  }
  if (facts.synchronous_commit == "off") {
    return fail(Code::kInvalidArgument,
                "synchronous_commit is off, so acknowledged writes could be lost; set it to on");
  }
  if (facts.synchronous_commit == "local" && facts.has_synchronous_standbys) {
    return fail(Code::kInvalidArgument,
                "synchronous_commit is local although synchronous_standby_names names standbys, "
                "so a failover could lose acknowledged writes; set it to on");
  }
  if (facts.max_prepared_transactions > 0) {
    return fail(Code::kInvalidArgument,
                fmt::format("max_prepared_transactions is {}: a prepared transaction would stop "
                            "all streams; set it to 0 and restart PostgreSQL",
                            facts.max_prepared_transactions));
  }
  return {};
}

std::string risk_of(const ServerFacts& facts) {
  if (facts.fsync && facts.full_page_writes) return {};
  const bool both = !facts.fsync && !facts.full_page_writes;
  const char* const one = facts.fsync ? "full_page_writes" : "fsync";
  return fmt::format(
      "{} of PostgreSQL {} off, so a power failure can lose or damage data; set {} to on",
      both ? "fsync and full_page_writes" : one, both ? "are" : "is", both ? "them" : "it");
}

Result<void> check_data(const DataFacts& facts, const std::string& schema,
                        LogPosition acknowledged) {
  if (facts.version > kSchemaVersion) {
    return fail(Code::kInvalidArgument,
                fmt::format("schema '{}' has version {}, newer than {}; upgrade Stator", schema,
                            facts.version, kSchemaVersion));
  }
  if (facts.is_moved) {
    return fail(Code::kInvalidArgument,
                fmt::format("schema '{}' was restored from another PostgreSQL server; run `stator "
                            "cluster init`",
                            schema));
  }
  if (facts.next < acknowledged) {
    return fail(Code::kUnavailable,
                "PostgreSQL has lost acknowledged commits; make the server that has them the "
                "primary, or restart Stator to continue without them");
  }
  return {};
}

Result<void> initialize(const ConnectionOptions& options) {
  ConnectionOptions patient = options;
  patient.response_timeout = kInitializeTimeout;
  STATOR_ASSIGN_OR_RETURN(const Opened opened, open_checked(patient, Target::kAny));
  return initialize_on(*opened.connection, options);
}

Result<void> check_server_and_data(const ConnectionOptions& options) {
  STATOR_ASSIGN_OR_RETURN(const Opened opened, open_checked(options, Target::kAny));
  const auto contents = read_contents(*opened.connection, options.schema);
  if (!contents) return Failure(to_error(contents.error()));
  STATOR_RETURN_IF_ERROR(check_may_use(*contents, options.schema));
  if (!contents->has_stator) return no_data(options.schema);
  STATOR_ASSIGN_OR_RETURN(const auto facts, read_data_facts(*opened.connection));
  return facts ? check_data(*facts, options.schema, {}) : Result<void>(no_data(options.schema));
}

// The facts about the data are read in a separate pipeline, because tables of a newer version could
// lack columns that the other statements need.
Result<std::unique_ptr<Connection>> open_connection(const ConnectionOptions& options, Target target,
                                                    LogPosition acknowledged) {
  STATOR_ASSIGN_OR_RETURN(Opened opened, open_checked(options, target));
  if (!opened.facts.has_data) return no_data(options.schema);
  Connection& connection = *opened.connection;
  connection.prepare(Statement::kDataFacts);
  connection.send(Statement::kDataFacts);
  connection.end();
  for (std::size_t i = 0; i < kStatements; ++i) {
    const auto statement = static_cast<Statement>(i);
    if (statement != Statement::kDataFacts) connection.prepare(statement);
  }
  connection.end();
  const auto rows = connection.results();
  if (!rows) return Failure(to_error(rows.error()));
  const auto facts = data_facts(rows->back());
  if (!facts) return no_data(options.schema);
  STATOR_RETURN_IF_ERROR(check_data(*facts, options.schema, acknowledged));
  if (const auto prepared = connection.results(); !prepared) {
    return Failure(to_error(prepared.error()));
  }
  connection.take_warning();
  connection.risk = risk_of(opened.facts);
  return std::move(opened.connection);
}

}  // namespace stator::postgres
