// SPDX-License-Identifier: Apache-2.0
// What bench/instructions starts. Without arguments, a program for Callgrind, which counts each
// operation in process. With URL KIND COUNT, the client of a server; KIND 0 fills the tables.
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

constexpr int kWarmUp = 300;
constexpr int kCounted = 1000;

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

bool count_in_process() {
  auto database = Database::open();
  if (!database || !fill(*database, work)) return false;
  for (const Kind kind : kKinds) {
    const Operation operation = on_client(*database, kind, work)(0);
    if (!run(operation, kWarmUp)) return false;
    CALLGRIND_ZERO_STATS;
    if (!run(operation, kCounted)) return false;
    CALLGRIND_DUMP_STATS_AT(title_of(kind));
  }
  return true;
}

}  // namespace
}  // namespace stator::bench

int main(int argc, char** argv) {
  using namespace stator::bench;
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const bool good = argc == 4 ? send_to(arguments[1], std::strtoul(arguments[2], nullptr, 10),
                                        std::atoi(arguments[3]))
                              : count_in_process();
  if (!good) std::fprintf(stderr, "an operation failed\n");
  return good ? 0 : 1;
}
