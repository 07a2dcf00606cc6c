// SPDX-License-Identifier: Apache-2.0
#include "storage/transact_store.h"

#include <utility>

#include "base/awaited.h"
#include "base/wait_permit.h"

namespace stator {
namespace {

// Passes a callback to `start`, and waits for the value passed to the callback.
template <class T, class Start>
T wait_for(Start start) {
  Awaited<T> awaited;
  {
    const WaitPermit permit(WaitFor::kServer);
    start([&awaited](T value) { awaited.set(std::move(value)); });
  }
  return awaited.take();
}

}  // namespace

Result<void> ReadView::get_many(std::span<const std::string> keys, ReadVisitor visit) {
  bool more = true;
  for (std::size_t part = 0; more && part < keys.size(); ++part) {
    STATOR_RETURN_IF_ERROR(
        get(keys[part], [&](std::string_view value) { more = visit(part, keys[part], value); }));
  }
  return {};
}

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

Result<void> read_and_wait(TransactStore& store, const ReadRequest& request, ReadVisitor visit) {
  return wait_for<Result<void>>(
      [&](ReadDone done) { store.read(request, visit, std::move(done)); });
}

Result<bool> read_value(TransactStore& store, const std::string& key, ValueVisitor visit) {
  bool found = false;
  STATOR_RETURN_IF_ERROR(read_and_wait(store, {.keys = {&key, 1}},
                                       [&](std::size_t, std::string_view, std::string_view value) {
                                         found = true;
                                         visit(value);
                                         return true;
                                       }));
  return found;
}

Result<void> read_range(TransactStore& store, const RangeRead& range, RowVisitor visit) {
  return read_and_wait(
      store, {.ranges = {&range, 1}},
      [&](std::size_t, std::string_view key, std::string_view value) { return visit(key, value); });
}

Result<void> view_and_wait(TransactStore& store, ViewBody body) {
  return wait_for<Result<void>>([&](ReadDone done) { store.with_view(body, std::move(done)); });
}

Result<void> copy_files(TransactStore& store, const std::filesystem::path& directory) {
  if (StoreFiles* const files = store.files()) return files->checkpoint(directory);
  return fail(Code::kInvalidArgument,
              "the tables are not in a directory, so there are no files to copy");
}

}  // namespace stator
