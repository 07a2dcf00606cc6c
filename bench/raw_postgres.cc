// SPDX-License-Identifier: Apache-2.0
#include "bench/raw_postgres.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "base/big_endian.h"

namespace stator::bench {
namespace {

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, Clear>;

// As Stator's: the first 20 bytes of a key select the partition of the table.
constexpr std::size_t kPartitionBytes = 20;

std::string partition_of(char kind, uint64_t number) {
  return fmt::format("{}{:0{}}", kind, number, kPartitionBytes - 1);
}

constexpr const char* kTables =
    "DROP SCHEMA IF EXISTS raw CASCADE; CREATE SCHEMA raw;"
    "CREATE TABLE raw.kv (p bytea NOT NULL, s bytea NOT NULL, ver int8 NOT NULL, v bytea NOT NULL,"
    " PRIMARY KEY (p, s)) PARTITION BY HASH (p);"
    "DO $$ BEGIN FOR i IN 0..7 LOOP EXECUTE format('CREATE TABLE raw.kv_%s PARTITION OF raw.kv FOR"
    " VALUES WITH (MODULUS 8, REMAINDER %s)', i, i); END LOOP; END $$;"
    "CREATE SEQUENCE raw.versions CACHE 1000";

// Statements by name. `s` is empty except in pages.
constexpr std::array<std::pair<const char*, const char*>, 5> kStatements{
    {{"get", "SELECT ver, v FROM raw.kv WHERE p = $1::bytea AND s = ''::bytea"},
     {"put",
      "INSERT INTO raw.kv VALUES ($1::bytea, ''::bytea, nextval('raw.versions'), $2::bytea)"
      " ON CONFLICT (p, s) DO UPDATE SET ver = excluded.ver, v = excluded.v"},
     {"replace",
      "UPDATE raw.kv SET ver = nextval('raw.versions'), v = $2::bytea"
      " WHERE p = $1::bytea AND s = ''::bytea AND ver = $3::int8"},
     {"put_four",
      "INSERT INTO raw.kv SELECT p, ''::bytea, nextval('raw.versions'), v FROM"
      " (VALUES ($1::bytea, $2::bytea), ($3, $4), ($5, $6), ($7, $8)) AS rows(p, v)"
      " ON CONFLICT (p, s) DO UPDATE SET ver = excluded.ver, v = excluded.v"},
     {"page",
      "SELECT s, v FROM raw.kv WHERE p = $1::bytea AND s > $2::bytea ORDER BY s LIMIT $3::int8"}}};

ResultPtr run(PGconn* connection, const char* name, std::span<const std::string_view> values) {
  std::array<const char*, 8> data{};
  std::array<int, 8> lengths{};
  std::array<int, 8> binary{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    data[i] = values[i].data();
    lengths[i] = static_cast<int>(values[i].size());
    binary[i] = 1;
  }
  return ResultPtr(PQexecPrepared(connection, name, static_cast<int>(values.size()), data.data(),
                                  lengths.data(), binary.data(), 1));
}

bool is_row(const ResultPtr& result) {
  return PQresultStatus(result.get()) == PGRES_TUPLES_OK && PQntuples(result.get()) == 1;
}

bool is_done(const ResultPtr& result) {
  return PQresultStatus(result.get()) == PGRES_COMMAND_OK;
}

}  // namespace

void RawPostgres::Close::operator()(PGconn* connection) const {
  PQfinish(connection);
}

RawPostgres::RawPostgres(const std::string& dsn) : connection_(PQconnectdb(dsn.c_str())) {
  // As Stator's sessions have it: no plan depends on the number of rows.
  if (!execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
               "SET enable_bitmapscan = off")) {
    return;
  }
  for (const auto& [name, statement] : kStatements) {
    const ResultPtr ignored(PQprepare(connection_.get(), name, statement, 0, nullptr));
  }
}

bool RawPostgres::execute(const char* statement) {
  const ResultPtr result(PQexec(connection_.get(), statement));
  const bool good = PQresultStatus(result.get()) == PGRES_COMMAND_OK;
  if (!good) fmt::print(stderr, "{}", PQerrorMessage(connection_.get()));
  return good;
}

bool RawPostgres::fill(uint64_t count, uint64_t partitions, uint64_t page,
                       const std::string& value) {
  return execute(kTables) &&
         execute(
             fmt::format("INSERT INTO raw.kv SELECT convert_to('r' || lpad((i::text), {0}, '0'),"
                         " 'UTF8'), '', 1, '{1}' FROM generate_series(0, {2}) AS i;"
                         "INSERT INTO raw.kv SELECT convert_to('p' || lpad((i::text), {0}, '0'),"
                         " 'UTF8'), int8send(j), 1, '{1}'"
                         " FROM generate_series(0, {3}) AS i, generate_series(0, {4}) AS j",
                         kPartitionBytes - 1, value, count - 1, partitions - 1, page - 1)
                 .c_str()) &&
         execute("ANALYZE raw.kv");
}

bool RawPostgres::get(uint64_t number) {
  const std::string partition = partition_of('r', number);
  return is_row(run(connection_.get(), "get", std::array{std::string_view(partition)}));
}

bool RawPostgres::put(uint64_t number, const std::string& value) {
  const std::string partition = partition_of('r', number);
  return is_done(run(connection_.get(), "put", std::array<std::string_view, 2>{partition, value}));
}

bool RawPostgres::update(uint64_t number, const std::string& value) {
  const std::string partition = partition_of('r', number);
  for (;;) {
    const auto found = run(connection_.get(), "get", std::array{std::string_view(partition)});
    if (!is_row(found)) return false;
    const std::string_view version(PQgetvalue(found.get(), 0, 0), sizeof(int64_t));
    const auto replaced = run(connection_.get(), "replace",
                              std::array<std::string_view, 3>{partition, value, version});
    if (!is_done(replaced)) return false;
    if (std::string_view(PQcmdTuples(replaced.get())) == "1") return true;
  }
}

bool RawPostgres::put_four(uint64_t first, uint64_t count, const std::string& value) {
  std::array<uint64_t, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = (first + i) % count;
  std::ranges::sort(numbers);  // so that two of them do not deadlock
  std::array<std::string, 4> partitions;
  std::array<std::string_view, 8> values;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    partitions[i] = partition_of('r', numbers[i]);
    values[2 * i] = partitions[i];
    values[2 * i + 1] = value;
  }
  return is_done(run(connection_.get(), "put_four", values));
}

bool RawPostgres::read_page(uint64_t partition, uint64_t page) {
  const std::string of = partition_of('p', partition);
  std::string limit;
  append_big_endian(limit, page);
  const auto found = run(connection_.get(), "page", std::array<std::string_view, 3>{of, "", limit});
  return PQresultStatus(found.get()) == PGRES_TUPLES_OK &&
         PQntuples(found.get()) == static_cast<int>(page);
}

}  // namespace stator::bench
