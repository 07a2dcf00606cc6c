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

#include "storage/store.h"

namespace stator::test {

class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  StoreCapabilities capabilities() const override { return inner_->capabilities(); }
  StoreHealth health() const override { return inner_->health(); }
  StoreStats stats() const override { return inner_->stats(); }
  uint64_t last_commit_version() const override { return inner_->last_commit_version(); }
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done) override {
    inner_->transact(keys, std::move(decide), std::move(done));
  }
  void write(Batch batch, CommitDone done) override {
    inner_->write(std::move(batch), std::move(done));
  }
  void read(ReadRequest request, ReadDone done) override {
    inner_->read(std::move(request), std::move(done));
  }
  Result<LogPosition> safe_position() override { return inner_->safe_position(); }
  StoreFiles* files() override { return inner_->files(); }
  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    return inner_->get(key, visit);
  }
  Result<std::unique_ptr<ReadView>> read_view() override { return inner_->read_view(); }
  Result<NumberedView> numbered_view() override { return inner_->numbered_view(); }
  Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) override {
    return inner_->split_ranges(range, parts);
  }
  Result<void> drop_range(const KeyRange& range) override { return inner_->drop_range(range); }

 protected:
  std::shared_ptr<Store> inner_;
};

}  // namespace stator::test
