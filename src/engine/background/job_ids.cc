// SPDX-License-Identifier: Apache-2.0
#include "engine/background/job_ids.h"

#include <algorithm>

#include "base/random.h"

namespace stator {

std::string JobIds::next(int64_t now_ms) {
  int64_t last_ms = last_ms_;
  int64_t id_ms = 0;
  do {
    id_ms = std::max(now_ms, last_ms + 1);
  } while (!last_ms_.compare_exchange_weak(last_ms, id_ms));
  std::string id = std::to_string(id_ms);
  constexpr std::size_t kDigits = 14;
  id.insert(0, kDigits - std::min(kDigits, id.size()), '0');
  return id + "-" + random_uuid().substr(0, 8);
}

}  // namespace stator
