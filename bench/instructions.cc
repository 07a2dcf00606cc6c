// SPDX-License-Identifier: Apache-2.0
// What bench/instructions starts. With WARM-UP COUNT, a program for Callgrind, which counts so many
// of each operation in process. With URL KIND COUNT, the client of a server; KIND 0 fills the
// tables.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "bench/workload.h"
#include "stator/database.h"
#include "stator/http_client.h"

namespace stator::bench {
namespace {

const WorkOptions work{.items = 2000};

bool run(const Operation& operation, int count) {
  for (int i = 0; i < count; ++i) {
    if (!operation()) return false;
  }
  return true;
}

bool send_to(const std::string& url, std::size_t kind, int count) {
  if (kind > 0) return run(over_http(url, kKinds[kind - 1], work)(0), count);
  auto client = HttpClient::open({.endpoint = url});
  return client && fill(*client, work);
}

bool count_in_process(int warm_up, int count) {
  auto database = Database::open();
  if (!database || !fill(*database, work)) return false;
  for (const Kind kind : kKinds) {
    const Operation operation = on_client(*database, kind, work)(0);
    if (!run(operation, warm_up)) return false;
    CALLGRIND_ZERO_STATS;
    if (!run(operation, count)) return false;
    CALLGRIND_DUMP_STATS_AT(title_of(kind));
  }
  return true;
}

}  // namespace
}  // namespace stator::bench

int main(int argc, char** argv) {
  using namespace stator::bench;
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const auto number = [&](std::size_t i) { return std::atoi(arguments[i]); };
  bool good = false;
  if (argc == 3) good = count_in_process(number(1), number(2));
  if (argc == 4) good = send_to(arguments[1], static_cast<std::size_t>(number(2)), number(3));
  if (!good) std::fprintf(stderr, "an operation failed\n");
  return good ? 0 : 1;
}
