// SPDX-License-Identifier: Apache-2.0
// "memory", "rocks": one store. "shared": two stores on one backend. "faulty": like "shared", but
// the backend has all failures that a store can hide.
#include "storage/transact_fixture.h"

#include "support/shared_store.h"

namespace stator::test {

std::vector<std::string> store_kinds() {
  return {"memory", "rocks", "shared", "faulty"};
}

OpenedStores open_stores(const std::string& kind, const std::filesystem::path& directory) {
  OpenedStores opened;
  if (kind == "memory") {
    opened.stores.push_back(make_memory_store());
  } else if (kind == "rocks") {
    auto store = open_rocks_store({.path = directory / "data",
                                   .durability = Durability::kOs,
                                   .write_buffer_bytes = 256UL << 10});
    EXPECT_THAT(store, IsOk());
    opened.stores.push_back(std::move(*store));
  } else {
    SharedFaults faults;
    if (kind == "faulty") faults = {.conflicts = 50, .lost_replies = 100, .late = 100};
    const auto backend = std::make_shared<SharedBackend>(kSeed, faults);
    for (uint32_t i = 0; i < 2; ++i) {
      opened.stores.push_back(std::make_unique<SharedStore>(*backend, kSeed + i));
    }
    opened.deliver_late = [backend] { backend->deliver_late(); };
    opened.backend = backend;
  }
  return opened;
}

}  // namespace stator::test
