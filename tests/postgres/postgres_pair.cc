// SPDX-License-Identifier: Apache-2.0
// STATOR_TEST_BACKEND=postgres: engine_pair.h on PostgreSQL. Each backend is a schema.
#include <cstdlib>
#include <memory>
#include <string_view>

#include "engine/testing/engine_pair.h"
#include "storage/postgres/postgres_fixture.h"

namespace stator::test {
namespace {

[[maybe_unused]] const bool uses_postgres = [] {
  const char* const backend = std::getenv("STATOR_TEST_BACKEND");
  if (backend == nullptr || std::string_view(backend) != "postgres") return false;
  make_pair_backend = [](uint32_t) -> OpenStore {
    const auto schema = std::make_shared<PostgresSchema>();
    return [schema](uint32_t) { return schema->open(); };
  };
  return true;
}();

}  // namespace
}  // namespace stator::test
