// SPDX-License-Identifier: Apache-2.0
// Reads of several keys look up each key in a subquery, because joins would depend on the planner.
#include "storage/postgres/statements.h"

#include <fmt/format.h>

#include <array>

namespace stator::postgres {
namespace {

std::string scan(bool in_partition, bool to_end, bool backward) {
  std::string where = in_partition ? "p = $1 AND s >= $2" : "(p, s) >= ($1, $2)";
  int next = 3;
  if (!to_end && in_partition) where += fmt::format(" AND s < ${}", next++);
  if (!to_end && !in_partition) {
    where += fmt::format(" AND (p, s) < (${}, ${})", next, next + 1);
    next += 2;
  }
  const char* const direction = backward ? " DESC" : "";
  return fmt::format("SELECT p, s, v FROM kv WHERE {0} ORDER BY {1}s{2} LIMIT ${3}::int4", where,
                     in_partition ? "" : fmt::format("p{}, ", direction), direction, next);
}

// A row in any case. Unlike a subquery of many keys, it opens only the partition of its key.
std::string get_or_null(int parameter) {
  return fmt::format(
      "SELECT r.ver, r.v FROM (VALUES (0)) AS k LEFT JOIN "
      "(SELECT ver, v FROM kv WHERE p = ${} AND s = ${}) AS r ON true",
      parameter, parameter + 1);
}

std::string drop(bool to_end) {
  return fmt::format(
      "WITH doomed AS MATERIALIZED ({}), gone AS (DELETE FROM kv USING doomed "
      "WHERE kv.p = doomed.p AND kv.s = doomed.s) "
      "SELECT p, s FROM doomed ORDER BY p DESC, s DESC LIMIT 1",
      scan(false, to_end, false));
}

// commit_batches() has 26 parameters.
std::string commit_call() {
  constexpr int kParameters = 26;
  std::string sql = "SELECT stamp, conflicts, changed FROM commit_batches($1";
  for (int i = 2; i <= kParameters; ++i) sql += fmt::format(", ${}", i);
  return sql + ")";
}

std::string sql_of(Statement statement) {
  switch (statement) {
    case Statement::kBegin:
      return "BEGIN";
    case Statement::kBeginReadOnly:
      return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    case Statement::kCommit:
      return "COMMIT";
    case Statement::kRollback:
      return "ROLLBACK";
    case Statement::kGet:
      return "SELECT v FROM kv WHERE p = $1 AND s = $2";
    case Statement::kGetTwo:
      return fmt::format("{} UNION ALL {}", get_or_null(1), get_or_null(3));
    case Statement::kGetMany:
      return "SELECT r.ver, r.v FROM unnest($1::bytea[], $2::bytea[]) AS k(p, s) LEFT JOIN LATERAL "
             "(SELECT kv.ver, kv.v FROM kv WHERE kv.p = k.p AND kv.s = k.s LIMIT 1) AS r ON true";
    case Statement::kLock:
      return "SELECT CASE WHEN l.is_shared THEN pg_advisory_xact_lock_shared(l.hash) "
             "ELSE pg_advisory_xact_lock(l.hash) END "
             "FROM unnest($1::int8[], $2::bool[]) AS l(hash, is_shared)";
    case Statement::kCommitBatches:
      return commit_call();
    case Statement::kDataFacts:
      return "SELECT m.version::text, (m.system_identifier <> c.system_identifier)::text, "
             "(m.stamp_base + (pg_snapshot_xmax(pg_current_snapshot())::text::int8 << 12))::text "
             "FROM meta AS m, pg_control_system() AS c";
    case Statement::kSettle:
      return "INSERT INTO request (slot, id) VALUES (($1::int4 % 4)::int2, $2::uuid) "
             "ON CONFLICT (slot, id) DO UPDATE SET settled = true "
             "RETURNING stamp, conflicts, changed";
    case Statement::kSafePosition:
      return "SELECT safe_position()";
    case Statement::kHorizon:
      return "SELECT pg_snapshot_xmin(s)::text::int8, pg_snapshot_xmax(s)::text::int8 "
             "FROM pg_current_snapshot() AS s";
    case Statement::kSweepRequests:
      // One sweep at a time: two that wait for the lock of the same table would block each other.
      return "SELECT sweep_requests() "
             "WHERE pg_try_advisory_xact_lock(hashtext('stator'), hashtext(current_schema))";
    case Statement::kDrop:
      return drop(false);
    case Statement::kDropToEnd:
      return drop(true);
    default: {
      const auto kind =
          static_cast<std::size_t>(statement) - static_cast<std::size_t>(Statement::kScan);
      return scan((kind & 4U) != 0, (kind & 1U) != 0, (kind & 2U) != 0);
    }
  }
}

}  // namespace

const StatementText& statement_text(Statement statement) {
  static const auto all = [] {
    std::array<StatementText, kStatements> texts;
    for (std::size_t i = 0; i < kStatements; ++i) {
      texts[i] = {fmt::format("stator_{}", i), sql_of(static_cast<Statement>(i))};
    }
    return texts;
  }();
  return all[static_cast<std::size_t>(statement)];
}

}  // namespace stator::postgres
