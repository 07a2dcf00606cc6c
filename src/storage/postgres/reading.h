// SPDX-License-Identifier: Apache-2.0
// Reads keys and ranges on one connection, from one snapshot.
//
// Thread safety: none, like the connection.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/transact_store.h"

namespace stator::postgres {

// Executes TransactStore::read(). The keys and the first rows of up to 16 ranges take one round
// trip; each further page of rows takes one more. Sets `visited` when it calls `visit`.
SqlResult<void> read_request(Connection& connection, const ReadRequest& request, ReadVisitor visit,
                             bool& visited);

// A snapshot, from its first read until it is destroyed.
class SnapshotView final : public ReadView {
 public:
  explicit SnapshotView(Connection& connection) : connection_(connection) {}
  SnapshotView(const SnapshotView&) = delete;
  SnapshotView& operator=(const SnapshotView&) = delete;
  ~SnapshotView() override;

  Result<bool> get(std::string_view key, ValueVisitor visit) override;
  Result<void> scan(const RangeRead& range, RowVisitor visit) override;

 private:
  void begin();

  Connection& connection_;
  bool begun_ = false;
};

struct VersionedRow {
  int64_t version = 0;  // 0: absent
  std::optional<std::string> value;
};
// Sends a read of keys with their versions, and decodes its result.
void send_versioned(Connection& connection, std::span<const std::string_view> keys);
std::vector<VersionedRow> versioned_rows(const Rows& rows);

// Erases the first rows of a range. Returns the last erased key; absent at the end of the range.
SqlResult<std::optional<std::string>> drop_chunk(Connection& connection, const KeyRange& range);

}  // namespace stator::postgres
