// SPDX-License-Identifier: Apache-2.0
// JobIds: names backups, imports and exports in the order of their creation.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace stator {

class JobIds {
 public:
  // "01489602797149-73d8d5bc": in the order of their creation, those of one millisecond too.
  std::string next(int64_t now_ms);

 private:
  std::atomic<int64_t> last_ms_{0};
};

}  // namespace stator
