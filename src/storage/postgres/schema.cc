// SPDX-License-Identifier: Apache-2.0
// Row keys are (p, s): the first kPartitionBytes, and the rest. The tables:
//
// * kv: the rows. `ver` is the commit version of the row's last writer, which guards compare. It is
//   no counter, so a row that was erased and created again has a version that it never had.
// * request: one row for each call of commit_batches() that wrote something, or a tombstone. A
//   tombstone has no stamp; the call with its id fails. `slot` is the day modulo 4. Calls of
//   yesterday, today and tomorrow are accepted, so the fourth slot can be emptied.
// * meta: one row about the whole data.
//
// Commit versions are the transaction's id, shifted, plus an ordinal. Transaction ids of a restored
// dump begin again, so `stamp_base` lies above all commit versions of the former server.
#include "storage/postgres/schema.h"

#include <fmt/format.h>

#include <string_view>

#include "storage/postgres/libpq_library.h"

namespace stator::postgres {
namespace {

constexpr int kPartitions = 8;
constexpr int kServerVersionMin = 150'000;

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

// @base@ is meta.stamp_base. The locks come first, and the transaction id after them: so the
// commit versions of a key ascend in the order of its commits. The batches of one call have no key
// in common.
constexpr std::string_view kFunctions = R"(
CREATE OR REPLACE FUNCTION this_day() RETURNS int4 LANGUAGE sql VOLATILE AS
$$ SELECT floor(extract(epoch FROM clock_timestamp()) / 86400)::int4 $$;

CREATE OR REPLACE FUNCTION safe_position() RETURNS int8 LANGUAGE sql STABLE AS
$$ SELECT @base@ + (pg_snapshot_xmin(pg_current_snapshot())::text::int8 << 12) $$;

CREATE OR REPLACE FUNCTION commit_batches(
  request_day int4, request_id uuid, batches int4,
  lock_hash int8[], lock_shared bool[],
  schema_p bytea[], schema_s bytea[], schema_version bytea[], schema_batch int4[],
  read_p bytea[], read_s bytea[], read_ver int8[], read_batch int4[],
  put_p bytea[], put_s bytea[], put_v bytea[], put_ordinal int4[], put_batch int4[],
  erase_p bytea[], erase_s bytea[], erase_batch int4[],
  log_key bytea[], log_at int4[], log_v bytea[], log_ordinal int4[], log_batch int4[],
  OUT stamp int8, OUT conflicts int4[], OUT changed int4[]
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  failed int4[];
BEGIN
  IF abs(request_day - this_day()) > 1 THEN
    RAISE EXCEPTION 'the clocks of Stator and PostgreSQL differ by more than a day';
  END IF;
  PERFORM CASE WHEN l.is_shared THEN pg_advisory_xact_lock_shared(l.hash)
               ELSE pg_advisory_xact_lock(l.hash) END
  FROM unnest(lock_hash, lock_shared) AS l(hash, is_shared);

  IF cardinality(schema_p) > 0 THEN
    SELECT array_agg(DISTINCT e.batch) INTO changed
    FROM unnest(schema_p, schema_s, schema_version, schema_batch) AS e(p, s, version, batch)
    WHERE coalesce((SELECT substr(kv.v, 1, 8) FROM kv WHERE kv.p = e.p AND kv.s = e.s),
                   '\x0000000000000000') <> e.version;
  END IF;
  IF cardinality(read_p) > 0 THEN
    SELECT array_agg(DISTINCT e.batch) INTO conflicts
    FROM unnest(read_p, read_s, read_ver, read_batch) AS e(p, s, ver, batch)
    WHERE coalesce((SELECT kv.ver FROM kv WHERE kv.p = e.p AND kv.s = e.s), 0) <> e.ver;
  END IF;
  failed := coalesce(changed, '{}') || coalesce(conflicts, '{}');
  IF cardinality(failed) > 0 AND
     (SELECT count(DISTINCT f.batch) FROM unnest(failed) AS f(batch)) = batches THEN
    RETURN;
  END IF;

  stamp := @base@ + (pg_current_xact_id()::text::int8 << 12);
  INSERT INTO request (slot, id, stamp, conflicts, changed)
  VALUES ((request_day % 4)::int2, request_id, stamp, conflicts, changed);
  IF cardinality(erase_p) > 0 THEN
    DELETE FROM kv USING unnest(erase_p, erase_s, erase_batch) AS w(p, s, batch)
    WHERE kv.p = w.p AND kv.s = w.s AND w.batch <> ALL (failed);
  END IF;
  IF cardinality(put_p) > 0 THEN
    INSERT INTO kv (p, s, ver, v)
    SELECT w.p, w.s, stamp + w.ordinal, w.v
    FROM unnest(put_p, put_s, put_v, put_ordinal, put_batch) AS w(p, s, v, ordinal, batch)
    WHERE w.batch <> ALL (failed)
    ON CONFLICT (p, s) DO UPDATE SET ver = excluded.ver, v = excluded.v;
  END IF;
  IF cardinality(log_key) > 0 THEN
    INSERT INTO kv (p, s, ver, v)
    SELECT substr(k.key, 1, 20), substr(k.key, 21), k.ver, k.v
    FROM (SELECT stamp + w.ordinal AS ver, w.v,
                 overlay(w.key PLACING int8send(stamp + w.ordinal) FROM w.at + 1 FOR 8) AS key
          FROM unnest(log_key, log_at, log_v, log_ordinal, log_batch)
            AS w(key, at, v, ordinal, batch)
          WHERE w.batch <> ALL (failed)) AS k;
  END IF;
END $$;

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

// Of a connection whose search_path is the store's schema.
SqlResult<ServerFacts> read_facts(Connection& connection) {
  const auto server = connection.run_script(
      "SELECT current_setting('server_version_num'), pg_is_in_recovery(), "
      "current_setting('transaction_read_only'), current_setting('synchronous_commit'), "
      "current_setting('max_prepared_transactions'), "
      "to_regclass('meta') IS NOT NULL");
  if (!server) return std::unexpected(server.error());
  const auto text = [&](int column) { return std::string(server->bytes(0, column)); };
  ServerFacts facts{.version = std::stoi(text(0)),
                    .is_standby = text(1) == "t",
                    .is_read_only = text(2) == "on",
                    .synchronous_commit = text(3),
                    .max_prepared_transactions = std::stoi(text(4))};
  if (text(5) != "t") return facts;
  const auto meta = connection.run_script(
      "SELECT m.version, m.system_identifier <> c.system_identifier "
      "FROM meta AS m, pg_control_system() AS c");
  if (!meta) return std::unexpected(meta.error());
  if (meta->count() == 0) return facts;
  facts.schema_version = std::stoi(std::string(meta->bytes(0, 0)));
  facts.is_moved = meta->bytes(0, 1) == "t";
  return facts;
}

std::string creation(const ServerFacts& facts) {
  if (!facts.schema_version) {
    return tables() + functions("0") + "INSERT INTO meta SELECT " + std::to_string(kSchemaVersion) +
           ", system_identifier, 0 FROM pg_control_system();\n";
  }
  return "UPDATE meta SET system_identifier = (SELECT system_identifier FROM pg_control_system()), "
         "stamp_base = greatest(stamp_base, coalesce((SELECT max(ver) FROM kv), 0));\n";
}

SqlResult<void> create_or_adapt(Connection& connection, const ServerFacts& facts) {
  auto done = connection.run_script(creation(facts));
  if (!done) return std::unexpected(std::move(done).error());
  const auto base = connection.run_script("SELECT stamp_base FROM meta");
  if (!base) return std::unexpected(base.error());
  done = connection.run_script(functions(base->bytes(0, 0)));
  if (!done) return std::unexpected(std::move(done).error());
  return {};
}

Result<void> check_options(const ConnectionOptions& options) {
  STATOR_RETURN_IF_ERROR(load_libpq());
  if (is_schema_name(options.schema)) return {};
  return fail(
      Code::kInvalidArgument,
      fmt::format("invalid schema name '{}'; use 1 to 63 lower-case letters, digits and '_'",
                  options.schema));
}

// Of the whole transaction; `connection` is closed by the caller after an error.
Result<void> initialize_on(Connection& connection, const ConnectionOptions& options) {
  const auto run = [&](const std::string& sql) -> Result<void> {
    if (auto done = connection.run_script(sql); !done) return Failure(to_error(done.error()));
    return {};
  };
  // The schema's name makes the lock: two processes that initialize it take turns.
  STATOR_RETURN_IF_ERROR(
      run(fmt::format("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('{0}', 0)); "
                      "CREATE SCHEMA IF NOT EXISTS \"{0}\"",
                      options.schema)));
  const auto facts = read_facts(connection);
  if (!facts) return Failure(to_error(facts.error()));
  if (facts->schema_version && *facts->schema_version > kSchemaVersion) {
    return check_data(*facts, options.schema);
  }
  if (!facts->schema_version || facts->is_moved) {
    if (auto done = create_or_adapt(connection, *facts); !done) {
      return Failure(to_error(done.error()));
    }
  }
  return run("COMMIT");
}

}  // namespace

Result<void> check_server(const ServerFacts& facts) {
  const auto refuse = [](Code code, std::string message) -> Result<void> {
    return fail(code, std::move(message));
  };
  if (facts.version < kServerVersionMin) {
    return refuse(
        Code::kInvalidArgument,
        fmt::format("PostgreSQL {} is too old; use version 15 or later", facts.version / 10'000));
  }
  if (facts.is_standby) {
    return refuse(Code::kUnavailable,
                  "PostgreSQL is a standby server; connect to the primary, or list all hosts with "
                  "target_session_attrs=read-write");
  }
  if (facts.is_read_only) {
    return refuse(Code::kUnavailable,
                  "PostgreSQL's sessions are read-only; set default_transaction_read_only=off");
  }
  if (facts.synchronous_commit == "off") {
    return refuse(Code::kInvalidArgument,
                  "synchronous_commit is off, so acknowledged writes could be lost; set it to on");
  }
  if (facts.max_prepared_transactions > 0) {
    return refuse(Code::kInvalidArgument,
                  fmt::format("max_prepared_transactions is {}: a prepared transaction would stop "
                              "all streams; set it to 0 and restart PostgreSQL",
                              facts.max_prepared_transactions));
  }
  return {};
}

Result<void> check_data(const ServerFacts& facts, const std::string& schema) {
  if (!facts.schema_version) {
    return fail(
        Code::kNotFound,
        fmt::format("schema '{}' has no data of Stator; run `stator cluster init`", schema));
  }
  if (*facts.schema_version > kSchemaVersion) {
    return fail(Code::kInvalidArgument,
                fmt::format("schema '{}' has version {}, newer than {}; upgrade Stator", schema,
                            *facts.schema_version, kSchemaVersion));
  }
  if (facts.is_moved) {
    return fail(Code::kInvalidArgument,
                fmt::format("schema '{}' was restored from another PostgreSQL server; run `stator "
                            "cluster init`",
                            schema));
  }
  return {};
}

Result<void> initialize(const ConnectionOptions& options) {
  STATOR_RETURN_IF_ERROR(check_options(options));
  auto connection = Connection::open(options, false);
  if (!connection) return unreachable(connection.error());
  const auto facts = read_facts(**connection);
  if (!facts) return Failure(to_error(facts.error()));
  STATOR_RETURN_IF_ERROR(check_server(*facts));
  return initialize_on(**connection, options);
}

Result<void> check_server_and_data(const ConnectionOptions& options) {
  STATOR_RETURN_IF_ERROR(check_options(options));
  auto connection = Connection::open(options, false);
  if (!connection) return unreachable(connection.error());
  const auto facts = read_facts(**connection);
  if (!facts) return Failure(to_error(facts.error()));
  STATOR_RETURN_IF_ERROR(check_server(*facts));
  return check_data(*facts, options.schema);
}

}  // namespace stator::postgres
