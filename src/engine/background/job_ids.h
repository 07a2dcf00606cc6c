// SPDX-License-Identifier: Apache-2.0
// JobIds: generates ids of backups, imports, exports and bulk puts, in the order of their creation.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace stator {

class JobIds {
 public:
  // Returns an id such as "01489602797149-73d8d5bc". Ids ascend, also within one millisecond.
  std::string next(int64_t now_ms);

 private:
  std::atomic<int64_t> last_ms_{0};
};

}  // namespace stator
