// SPDX-License-Identifier: Apache-2.0
// SharedStore: a TransactStore on a SharedBackend, like that of a process on a distributed
// database. It reads, decides, and commits if nothing has changed. Some reads that can start over
// do. Each call runs on one of its threads, or on the calling one if the backend is virtual.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "support/shared_backend.h"

namespace stator::test {

class SharedStore final : public TransactStore {
 public:
  // `backend` must outlive it.
  SharedStore(SharedBackend& backend, uint32_t seed);
  SharedStore(const SharedStore&) = delete;
  SharedStore& operator=(const SharedStore&) = delete;
  ~SharedStore() override;

  StoreCapabilities capabilities() const override;
  StoreHealth health() const override { return {}; }
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override;
  void transact_foreseen(std::span<const std::string> keys, Decide decide, CommitDone done,
                         SchemaVersions expected) override;
  void write(Batch batch, CommitDone done, SchemaVersions expected) override;
  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key) override;
  Result<uint64_t> schema_version(const SchemaRow& row) override;
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override;
  void with_view(ViewBody body, ReadDone done) override;
  Result<LogPosition> safe_position() override { return backend_.safe_position(); }
  Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) override;
  Result<void> drop_range(const KeyRange& range) override;

 private:
  using Call = std::move_only_function<void()>;
  using Reply = SharedBackend::Reply;

  void post(Call call);
  void run();
  CommitResult try_often(std::span<const std::string> keys, FunctionRef<Batch(GuardedRows)> decide,
                         SchemaVersions expected);
  // For a commit that guards the versions of no keys.
  CommitResult put_foreseen(std::span<const std::string> keys, Decide& decide,
                            SchemaVersions expected);
  SharedBackend::Request request_with(SchemaVersions expected);
  SharedBackend::Outcome commit(SharedBackend::Request request);
  void pause(int attempt);
  uint64_t random_below(uint64_t end);

  SharedBackend& backend_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::mt19937 random_;
  std::deque<Call> calls_;
  int running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stator::test
