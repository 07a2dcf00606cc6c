// SPDX-License-Identifier: Apache-2.0
// The statements that a connection prepares. Parameters are listed in their order.
#pragma once

#include <cstddef>
#include <string>

namespace stator::postgres {

inline constexpr std::size_t kFewKeys = 8;
inline constexpr std::size_t kFewGuards = 4;

enum class Statement : std::size_t {
  kBegin,          // -
  kBeginReadOnly,  // -; the statements that follow read one state
  kCommit,         // -
  kRollback,       // -
  kGet,            // p, s -> v
  kGetMany,        // p[], s[] -> ver and v, or nulls, in the order of the keys
  kLock,           // hash int8[], shared bool[]
  kLockTwo,        // hash int8, shared bool; the same again
  kDataFacts,      // see DataFacts -> text
  kSettle,         // day int4, id -> commit version or null, conflicts, changed
  kSafePosition,   // -> int8
  kHorizon,        // -> the oldest running transaction, or the next one; and the next one
  kSweepRequests,  // -
  // Rows of a range: p, s of its beginning; p, s of its end unless it has none; limit int4 -> p, s,
  // v in the order of the direction.
  kScan,
  kScanToEnd,
  kScanBackward,
  kScanToEndBackward,
  // The same of a range in one partition: p, s of its beginning; s of its end; limit -> null, s, v.
  kScanPartition,
  kScanPartitionToEnd,
  kScanPartitionBackward,
  kScanPartitionToEndBackward,
  // A key, and a range in one partition: p, s of the key; then as above -> null, null and the key's
  // v or null; then the rows.
  kGetAndScan,
  kGetAndScanToEnd,
  kGetAndScanBackward,
  kGetAndScanToEndBackward,
  // Erases the first rows of a range: parameters of kScan -> p, s of the last one. Returns no row
  // if none was erased.
  kDrop,
  kDropToEnd,
  kGetFew,                                                // see get_few()
  kCommitAlone = kGetFew + kFewKeys,                      // see commit_alone()
  kCommitTogether = kCommitAlone + 4 * (kFewGuards + 1),  // see commit_together()
  kEnd = kCommitTogether + 4,
};
inline constexpr std::size_t kStatements = static_cast<std::size_t>(Statement::kEnd);

// kGetMany for 1 to kFewKeys keys: p, s of each. It opens only the partitions of its keys.
Statement get_few(std::size_t keys);

// Commits several batches, each of which succeeds or fails alone. The statement before it must take
// their locks. Parameters: day, id, number of batches; p[], s[], version[], batch[] of the expected
// schemas; p[], s[], ver[], batch[] of the guards (kReported: any, and its row is returned); p[],
// s[], v[], ordinal[], batch[] of the rows. With `erases`, p[], s[], batch[] of the erased keys.
// With `logs`, key[], at[], v[], ordinal[], batch[] of the versioned rows.
// -> the commit version without an ordinal, or null if nothing was written; the batches with
// conflicts, and with changed schemas; whether the day is wrong; v or null of the guards, in their
// order.
Statement commit_together(bool erases, bool logs);
inline constexpr int64_t kReported = -1;
// commit_together() for one batch with one schema version, up to kFewGuards guards, at most one
// erased key and no versioned rows: day, id; p, s, version of the schema; p, s, ver of each guard;
// p[], s[], v[] of the rows, or with `one_put` p, s, v of the row; p, s of the erased key.
Statement commit_alone(std::size_t guards, bool one_put, bool erases);
bool is_commit(Statement statement);

struct StatementText {
  std::string name;
  std::string sql;
};
const StatementText& statement_text(Statement statement);

}  // namespace stator::postgres
