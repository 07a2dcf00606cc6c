// SPDX-License-Identifier: Apache-2.0
#include "storage/store.h"

#include <future>

namespace stator {

CommitResult commit_and_wait(Transaction& transaction) {
  std::promise<CommitResult> promise;
  std::future<CommitResult> future = promise.get_future();
  transaction.commit([&promise](CommitResult result) { promise.set_value(std::move(result)); });
  return future.get();
}

}  // namespace stator
