// SPDX-License-Identifier: Apache-2.0
// ForwardingStore: forwards to another store, for tests that override a part of it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/transact_store.h"

namespace stator::test {

class ForwardingStore : public TransactStore {
 public:
  explicit ForwardingStore(std::shared_ptr<TransactStore> inner) : inner_(std::move(inner)) {}

  StoreCapabilities capabilities() const override { return inner_->capabilities(); }
  StoreHealth health() const override { return inner_->health(); }
  StoreStats stats() const override { return inner_->stats(); }
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    inner_->transact(keys, std::move(decide), std::move(done), expected);
  }
  void write(Batch batch, CommitDone done, SchemaVersions expected) override {
    inner_->write(std::move(batch), std::move(done), expected);
  }
  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key) override {
    return inner_->schema_row(key);
  }
  Result<uint64_t> schema_version(const SchemaRow& row) override {
    return inner_->schema_version(row);
  }
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    inner_->read(request, visit, std::move(done));
  }
  void with_view(ViewBody body, ReadDone done) override {
    inner_->with_view(body, std::move(done));
  }
  Result<LogPosition> safe_position() override { return inner_->safe_position(); }
  StoreFiles* files() override { return inner_->files(); }
  LocalViews* local_views() override { return inner_->local_views(); }
  Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) override {
    return inner_->split_ranges(range, parts);
  }
  Result<void> drop_range(const KeyRange& range) override { return inner_->drop_range(range); }

 protected:
  std::shared_ptr<TransactStore> inner_;
};

}  // namespace stator::test
