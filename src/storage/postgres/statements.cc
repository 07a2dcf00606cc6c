// SPDX-License-Identifier: Apache-2.0
// Reads of several keys look up each key in a subquery, because joins would depend on the planner.
#include "storage/postgres/statements.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "storage/transact_store.h"

namespace stator::postgres {
namespace {

std::string scan(bool to_end, bool backward) {
  const char* const direction = backward ? " DESC" : "";
  return fmt::format(
      "SELECT p, s, v FROM kv WHERE (p, s) >= ($1, $2){0} ORDER BY p{1}, s{1} LIMIT ${2}::int4",
      to_end ? "" : " AND (p, s) < ($3, $4)", direction, to_end ? 3 : 5);
}

std::string scan_partition(int parameter, bool to_end, bool backward) {
  return fmt::format(
      "SELECT NULL::bytea, s, v FROM kv WHERE p = ${} AND s >= ${}{} ORDER BY s{} LIMIT ${}::int4",
      parameter, parameter + 1, to_end ? "" : fmt::format(" AND s < ${}", parameter + 2),
      backward ? " DESC" : "", parameter + (to_end ? 2 : 3));
}

std::string get_and_scan(bool to_end, bool backward) {
  return fmt::format(
      "SELECT NULL::bytea, NULL::bytea, (SELECT v FROM kv WHERE p = $1 AND s = $2)"
      " UNION ALL ({})",
      scan_partition(3, to_end, backward));
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

// Both kinds of commits begin with `seen`: whether the day is wrong, the batches with changed
// schemas and with conflicts, and the rows of the guards. `stamped` has a row, with the commit
// version, only if a batch succeeds. The transaction's id is taken there, after the locks, so the
// commit versions of a key ascend in commit order. The statement before has taken the locks, so
// this one sees all commits that had them.
constexpr std::string_view kIsLate = "abs($1::int4 - this_day()) > 1 AS is_late";
constexpr std::string_view kNoVersion = "'\\x0000000000000000'::bytea";
constexpr std::string_view kCommitVersion =
    "stamp_base + (pg_current_xact_id()::text::int8 << 12) AS stamp";
constexpr std::string_view kReplace =
    "ON CONFLICT (p, s) DO UPDATE SET ver = excluded.ver, v = excluded.v";
constexpr std::string_view kOutcome =
    " SELECT (SELECT stamp FROM stamped), conflicts, changed, is_late, rows FROM seen";

std::string commit_alone_text(std::size_t guards, bool one_put, bool erases) {
  constexpr int kFirstGuard = 6;
  int next = kFirstGuard;
  std::string conflicted = "false";
  std::string rows;
  std::string from;
  for (std::size_t i = 0; i < guards; ++i, next += 3) {
    conflicted += fmt::format(" OR (${0}::int8 <> {1} AND coalesce(g{2}.ver, 0) <> ${0})", next + 2,
                              kReported, i);
    rows += fmt::format("{}CASE WHEN ${}::int8 = {} THEN g{}.v END", i == 0 ? "" : ", ", next + 2,
                        kReported, i);
    from += fmt::format("{} ({}) AS g{}", i == 0 ? " FROM" : ",", get_or_null(next), i);
  }
  const auto put = [one_put](int parameter) {
    return fmt::format(fmt::runtime(one_put ? "${}::bytea" : "unnest(${}::bytea[])"), parameter);
  };
  std::string sql = fmt::format(
      "WITH seen AS MATERIALIZED (SELECT {},"
      " CASE WHEN coalesce((SELECT substr(v, 1, 8) FROM kv WHERE p = $3 AND s = $4), {}) <> $5"
      " THEN '{{0}}'::int4[] END AS changed,"
      " CASE WHEN {} THEN '{{0}}'::int4[] END AS conflicts, ARRAY[{}]::bytea[] AS rows{}),"
      " stamped AS MATERIALIZED (SELECT {} FROM seen, meta"
      " WHERE NOT is_late AND changed IS NULL AND conflicts IS NULL),"
      " requested AS (INSERT INTO request (slot, id, stamp)"
      " SELECT ($1 % 4)::int2, $2::uuid, stamp FROM stamped),"
      " put AS (INSERT INTO kv (p, s, ver, v)"
      " SELECT {}, {}, stamp + 1, {} FROM stamped {})",
      kIsLate, kNoVersion, conflicted, rows, from, kCommitVersion, put(next), put(next + 1),
      put(next + 2), kReplace);
  if (erases) {
    sql += fmt::format(
        ", erased AS (DELETE FROM kv WHERE p = ${} AND s = ${} AND EXISTS (SELECT FROM stamped))",
        next + 3, next + 4);
  }
  return sql.append(kOutcome);
}

std::string commit_together_text(bool erases, bool logs) {
  int next = 17;
  std::string sql = fmt::format(
      "WITH guarded AS MATERIALIZED (SELECT g.ver AS expected, g.batch, g.number, r.ver, r.v"
      " FROM unnest($8::bytea[], $9::bytea[], $10::int8[], $11::int4[])"
      " WITH ORDINALITY AS g(p, s, ver, batch, number) LEFT JOIN LATERAL"
      " (SELECT kv.ver, kv.v FROM kv WHERE kv.p = g.p AND kv.s = g.s LIMIT 1) AS r ON true),"
      " seen AS MATERIALIZED (SELECT {},"
      " (SELECT array_agg(DISTINCT e.batch)"
      " FROM unnest($4::bytea[], $5::bytea[], $6::bytea[], $7::int4[]) AS e(p, s, version, batch)"
      " WHERE coalesce((SELECT substr(kv.v, 1, 8) FROM kv WHERE kv.p = e.p AND kv.s = e.s), {})"
      " <> e.version) AS changed,"
      " (SELECT array_agg(DISTINCT batch) FROM guarded"
      " WHERE expected <> {} AND coalesce(ver, 0) <> expected) AS conflicts,"
      " (SELECT array_agg(CASE WHEN expected = {} THEN v END ORDER BY number) FROM guarded) AS "
      "rows),"
      " failing AS MATERIALIZED (SELECT coalesce(changed, '{{}}') || coalesce(conflicts, '{{}}') AS"
      " batches FROM seen),"
      " stamped AS MATERIALIZED (SELECT {} FROM seen, failing, meta WHERE NOT is_late AND"
      " (SELECT count(DISTINCT f.batch) FROM unnest(failing.batches) AS f(batch)) < $3::int4),"
      " requested AS (INSERT INTO request (slot, id, stamp, conflicts, changed)"
      " SELECT ($1 % 4)::int2, $2::uuid, stamp, conflicts, changed FROM stamped, seen),"
      " put AS (INSERT INTO kv (p, s, ver, v)"
      " SELECT w.p, w.s, stamp + w.ordinal, w.v FROM stamped, failing,"
      " unnest($12::bytea[], $13::bytea[], $14::bytea[], $15::int4[], $16::int4[])"
      " AS w(p, s, v, ordinal, batch) WHERE w.batch <> ALL (failing.batches) {})",
      kIsLate, kNoVersion, kReported, kReported, kCommitVersion, kReplace);
  if (erases) {
    sql += fmt::format(
        ", erased AS (DELETE FROM kv USING stamped, failing,"
        " unnest(${}::bytea[], ${}::bytea[], ${}::int4[]) AS w(p, s, batch)"
        " WHERE kv.p = w.p AND kv.s = w.s AND w.batch <> ALL (failing.batches))",
        next, next + 1, next + 2);
    next += 3;
  }
  if (logs) {
    sql += fmt::format(
        ", logged AS (INSERT INTO kv (p, s, ver, v)"
        " SELECT substr(k.key, 1, {5}), substr(k.key, {5} + 1), k.ver, k.v"
        " FROM (SELECT stamp + w.ordinal AS ver, w.v,"
        " overlay(w.key PLACING int8send(stamp + w.ordinal) FROM w.at + 1 FOR 8) AS key"
        " FROM stamped, failing,"
        " unnest(${0}::bytea[], ${1}::int4[], ${2}::bytea[], ${3}::int4[], ${4}::int4[])"
        " AS w(key, at, v, ordinal, batch) WHERE w.batch <> ALL (failing.batches)) AS k)",
        next, next + 1, next + 2, next + 3, next + 4, kPartitionBytes);
  }
  return sql.append(kOutcome);
}

std::string lock_text(int parameter) {
  return fmt::format(
      "CASE WHEN ${1}::bool THEN pg_advisory_xact_lock_shared(${0}::int8)"
      " ELSE pg_advisory_xact_lock(${0}::int8) END",
      parameter, parameter + 1);
}

std::string drop(bool to_end) {
  return fmt::format(
      "WITH doomed AS MATERIALIZED ({}), gone AS (DELETE FROM kv USING doomed "
      "WHERE kv.p = doomed.p AND kv.s = doomed.s) "
      "SELECT p, s FROM doomed ORDER BY p DESC, s DESC LIMIT 1",
      scan(to_end, false));
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
    case Statement::kLockTwo:
      return fmt::format("SELECT {}, {}", lock_text(1), lock_text(3));
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
      if (statement >= Statement::kCommitTogether) {
        const std::size_t kind = number_in(Statement::kCommitTogether, statement);
        return commit_together_text((kind & 1U) != 0, (kind & 2U) != 0);
      }
      if (statement >= Statement::kCommitAlone) {
        const std::size_t kind = number_in(Statement::kCommitAlone, statement);
        return commit_alone_text(kind / 4, (kind & 1U) != 0, (kind & 2U) != 0);
      }
      if (statement >= Statement::kGetFew) {
        return get_few_text(number_in(Statement::kGetFew, statement) + 1);
      }
      const std::size_t kind = number_in(Statement::kScan, statement);
      const bool to_end = (kind & 1U) != 0;
      const bool backward = (kind & 2U) != 0;
      if (statement >= Statement::kGetAndScan) return get_and_scan(to_end, backward);
      if (statement >= Statement::kScanPartition) return scan_partition(1, to_end, backward);
      return scan(to_end, backward);
    }
  }
}

}  // namespace

Statement get_few(std::size_t keys) {
  return numbered(Statement::kGetFew, keys - 1);
}

Statement commit_alone(std::size_t guards, bool one_put, bool erases) {
  return numbered(Statement::kCommitAlone, 4 * guards + (one_put ? 1U : 0U) + (erases ? 2U : 0U));
}

Statement commit_together(bool erases, bool logs) {
  return numbered(Statement::kCommitTogether, (erases ? 1U : 0U) + (logs ? 2U : 0U));
}

bool is_commit(Statement statement) {
  return statement >= Statement::kCommitAlone;
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
