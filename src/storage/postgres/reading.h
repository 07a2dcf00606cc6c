// SPDX-License-Identifier: Apache-2.0
// Reads on one connection: keys and ranges, of one state.
//
// Thread safety: none; as the connection.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/transact_store.h"

namespace stator::postgres {

// TransactStore::read(). Keys alone, or the first rows of up to 16 ranges with the keys, take one
// round trip; each further page of rows takes one. Sets `visited` once it calls `visit`.
SqlResult<void> read_request(Connection& connection, const ReadRequest& request, ReadVisitor visit,
                             bool& visited);

// One state, from its first read until it is destroyed.
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
// Sends a read of keys with their versions, and takes what it returned.
void send_versioned(Connection& connection, std::span<const std::string_view> keys);
std::vector<VersionedRow> versioned_rows(const Rows& rows);

// Erases the first rows of a range. Returns the last key erased; none at the end of the range.
SqlResult<std::optional<std::string>> drop_chunk(Connection& connection, const KeyRange& range);

}  // namespace stator::postgres
