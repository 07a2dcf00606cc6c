// SPDX-License-Identifier: Apache-2.0
// ForwardingStore, ForwardingTransaction: do what another one does, for tests that change a part of
// it.
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

class ForwardingTransaction : public Transaction {
 public:
  explicit ForwardingTransaction(std::unique_ptr<Transaction> inner) : inner_(std::move(inner)) {}

  Result<std::vector<std::optional<std::string>>> get_for_update(
      std::span<const std::string> keys) override {
    return inner_->get_for_update(keys);
  }
  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    return inner_->get(key, visit);
  }
  void put(std::string_view key, std::string_view value) override { inner_->put(key, value); }
  void erase(std::string_view key) override { inner_->erase(key); }
  void put_stamped(std::string_view prefix, std::string_view suffix,
                   std::string_view value) override {
    inner_->put_stamped(prefix, suffix, value);
  }
  void commit(CommitDone done) override { inner_->commit(std::move(done)); }

 protected:
  std::unique_ptr<Transaction> inner_;
};

class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  StoreCapabilities capabilities() const override { return inner_->capabilities(); }
  StoreHealth health() const override { return inner_->health(); }
  StoreStats stats() const override { return inner_->stats(); }
  uint64_t last_stamp() const override { return inner_->last_stamp(); }
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
  Result<std::unique_ptr<Transaction>> begin() override { return inner_->begin(); }
  Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) override {
    return inner_->split_ranges(range, parts);
  }
  Result<void> drop_range(const KeyRange& range) override { return inner_->drop_range(range); }

 protected:
  std::shared_ptr<Store> inner_;
};

}  // namespace stator::test
