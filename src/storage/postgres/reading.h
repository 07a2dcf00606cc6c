// SPDX-License-Identifier: Apache-2.0
// Reads keys and ranges on one connection. A range, and a request, is one snapshot.
//
// Thread safety: none, like the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/postgres/session.h"
#include "storage/transact_store.h"

namespace stator::postgres {

// The rows that a read of keys found, in the order of its keys. Borrowed for the call.
class KeyRows {
 public:
  // `rows`: one for each different key. `numbers`: the number of the row of each key.
  KeyRows(const Rows& rows, std::span<const int> numbers) : rows_(rows), numbers_(numbers) {}

  bool is_present(std::size_t key) const { return !rows_.is_null(numbers_[key], 0); }
  // Of present keys.
  int64_t version(std::size_t key) const {
    return static_cast<int64_t>(rows_.number(numbers_[key], 0));
  }
  std::string_view value(std::size_t key) const { return rows_.bytes(numbers_[key], 1); }

 private:
  const Rows& rows_;
  const std::span<const int> numbers_;
};

// A read of keys only. Several can share a statement.
class KeyRead {
 public:
  virtual ~KeyRead() = default;
  virtual std::size_t key_count() const = 0;
  virtual std::string_view key(std::size_t number) const = 0;
  // Called exactly once.
  virtual void finish(const Result<KeyRows>& rows) = 0;
};

// Visits the present keys. Returns whether `visit` wants more.
bool visit_keys(std::span<const std::string> keys, const KeyRows& rows, ReadVisitor visit);

// Executes the reads with one statement, or each alone if that fails although the server responds.
void read_keys(Session& session, std::span<const std::unique_ptr<KeyRead>> reads);

// Executes a TransactStore::read() with ranges. The keys and the first rows of up to 16 ranges take
// one round trip; each further page of rows takes one more, and so does starting over. `visited`:
// whether visits count when it returns.
SqlResult<void> read_ranges(Connection& connection, const ReadRequest& request, ReadVisitor visit,
                            bool& visited);

// A snapshot, from its first read until it is destroyed.
class SnapshotView final : public ReadView {
 public:
  explicit SnapshotView(Connection& connection) : connection_(connection) {}
  SnapshotView(const SnapshotView&) = delete;
  SnapshotView& operator=(const SnapshotView&) = delete;
  ~SnapshotView() override;

  Result<bool> get(std::string_view key, ValueVisitor visit) override;
  Result<void> get_many(std::span<const std::string> keys, ReadVisitor visit) override;
  Result<void> scan(const RangeRead& range, RowVisitor visit) override;

 private:
  void begin();

  Connection& connection_;
  bool begun_ = false;
};

// Keys of one statement. Equal keys are read once.
class SentKeys {
 public:
  void add(std::string_view borrowed);
  std::size_t count() const { return numbers_.size(); }
  void send(Connection& connection) const;
  // The rows of `count` keys, starting with the one that was added as number `first`.
  KeyRows rows(const Rows& result, std::size_t first, std::size_t count) const {
    return {result, std::span(numbers_).subspan(first, count)};
  }
  KeyRows rows(const Rows& result) const { return rows(result, 0, count()); }

 private:
  std::vector<std::string_view> different_;
  std::unordered_map<std::string_view, int> found_;
  std::vector<int> numbers_;  // in different_, of each key
};

// Erases the first rows of a range. Returns the last erased key; absent at the end of the range.
SqlResult<std::optional<std::string>> drop_chunk(Connection& connection, const KeyRange& range);

}  // namespace stator::postgres
