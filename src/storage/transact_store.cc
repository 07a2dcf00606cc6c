// SPDX-License-Identifier: Apache-2.0
#include "storage/transact_store.h"

#include <future>
#include <utility>

namespace stator {
namespace {

// Passes a callback to `start` and waits for what it is called with.
template <class T, class Start>
T wait_for(Start start) {
  std::promise<T> promise;
  std::future<T> future = promise.get_future();
  start([&promise](T value) { promise.set_value(std::move(value)); });
  return future.get();
}

}  // namespace

CommitResult transact_and_wait(TransactStore& store, std::span<const std::string> keys,
                               FunctionRef<Batch(GuardedRows)> decide, SchemaVersions expected) {
  return wait_for<CommitResult>([&](CommitDone done) {
    store.transact(
        keys, [decide](GuardedRows rows) { return decide(rows); }, std::move(done), expected);
  });
}

CommitResult write_and_wait(TransactStore& store, Batch batch, SchemaVersions expected) {
  return wait_for<CommitResult>(
      [&](CommitDone done) { store.write(std::move(batch), std::move(done), expected); });
}

Result<ReadResult> read_and_wait(TransactStore& store, ReadRequest request) {
  return wait_for<Result<ReadResult>>(
      [&](ReadDone done) { store.read(std::move(request), std::move(done)); });
}

Result<void> copy_files(TransactStore& store, const std::filesystem::path& directory) {
  if (StoreFiles* const files = store.files()) return files->checkpoint(directory);
  return fail(Code::kInvalidArgument, "a store in memory has no files to copy");
}

}  // namespace stator
