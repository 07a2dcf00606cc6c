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

std::string get_few_text(std::size_t keys) {
  std::string sql = get_or_null(1);
  for (std::size_t i = 1; i < keys; ++i) {
    sql += fmt::format(" UNION ALL {}", get_or_null(static_cast<int>(2 * i + 1)));
  }
  return sql;
}

// The statement before it has taken the locks, so its snapshot contains all commits that had them.
std::string commit_alone_text(std::size_t guards, bool erases) {
  constexpr int kFirstGuard = 6;
  int next = kFirstGuard;
  std::string conflicted = "false";
  for (std::size_t i = 0; i < guards; ++i, next += 3) {
    conflicted +=
        fmt::format(" OR coalesce((SELECT ver FROM kv WHERE p = ${} AND s = ${}), 0) <> ${}", next,
                    next + 1, next + 2);
  }
  const int rows = next;
  std::string sql = fmt::format(
      "WITH seen AS MATERIALIZED (SELECT abs($1::int4 - this_day()) > 1 AS is_late,"
      " coalesce((SELECT substr(v, 1, 8) FROM kv WHERE p = $3 AND s = $4),"
      " '\\x0000000000000000') <> $5 AS changed, {} AS conflicted),"
      " stamped AS MATERIALIZED (SELECT stamp_base + (pg_current_xact_id()::text::int8 << 12) AS"
      " stamp FROM seen, meta WHERE NOT is_late AND NOT changed AND NOT conflicted),"
      " requested AS (INSERT INTO request (slot, id, stamp)"
      " SELECT ($1 % 4)::int2, $2::uuid, stamp FROM stamped),"
      " put AS (INSERT INTO kv (p, s, ver, v)"
      " SELECT unnest(${}::bytea[]), unnest(${}::bytea[]), stamp + 1, unnest(${}::bytea[])"
      " FROM stamped ON CONFLICT (p, s) DO UPDATE SET ver = excluded.ver, v = excluded.v)",
      conflicted, rows, rows + 1, rows + 2);
  if (erases) {
    sql += fmt::format(
        ", erased AS (DELETE FROM kv WHERE p = ${} AND s = ${} AND EXISTS (SELECT FROM stamped))",
        rows + 3, rows + 4);
  }
  return sql +
         " SELECT (SELECT stamp FROM stamped) AS stamp,"
         " CASE WHEN conflicted THEN '{0}'::int4[] END AS conflicts,"
         " CASE WHEN changed THEN '{0}'::int4[] END AS changed, is_late FROM seen";
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

std::size_t number_in(Statement first, Statement statement) {
  return static_cast<std::size_t>(statement) - static_cast<std::size_t>(first);
}

Statement numbered(Statement first, std::size_t number) {
  return static_cast<Statement>(static_cast<std::size_t>(first) + number);
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
      if (statement >= Statement::kCommitAlone) {
        const std::size_t kind = number_in(Statement::kCommitAlone, statement);
        return commit_alone_text(kind / 2, kind % 2 != 0);
      }
      if (statement >= Statement::kGetFew) {
        return get_few_text(number_in(Statement::kGetFew, statement) + 1);
      }
      const std::size_t kind = number_in(Statement::kScan, statement);
      return scan((kind & 4U) != 0, (kind & 1U) != 0, (kind & 2U) != 0);
    }
  }
}

}  // namespace

Statement get_few(std::size_t keys) {
  return numbered(Statement::kGetFew, keys - 1);
}

Statement commit_alone(std::size_t guards, bool erases) {
  return numbered(Statement::kCommitAlone, 2 * guards + (erases ? 1 : 0));
}

bool is_commit(Statement statement) {
  return statement == Statement::kCommitBatches || statement >= Statement::kCommitAlone;
}

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
