// SPDX-License-Identifier: Apache-2.0
// Homes that answer any request by JSON: in memory, on RocksDB with the smallest buffers, behind
// HTTP, and on pairs of engines. The same requests give the same bytes: all begin with one secret
// of the partition hash, their clocks stand still, and a table's id, which is random, is blanked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "histories/any_request.h"

namespace stator::test {

class AnsweringHome {
 public:
  virtual ~AnsweringHome() = default;
  virtual std::string answer(const AnyRequest& request) = 0;
  virtual void reopen() {}  // where there is something to come back to
};

std::unique_ptr<AnsweringHome> home_in_memory();
std::unique_ptr<AnsweringHome> home_over_http();
// Two engines on one backend, as two servers have it: each request goes to one of them.
std::unique_ptr<AnsweringHome> home_on_pair(uint32_t seed);
std::unique_ptr<AnsweringHome> home_on_postgres(uint32_t seed);  // the same, in a schema of its own

enum class Reopening { kNever, kWhenTold };
// How much RocksDB had to do for a history.
struct RocksWork {
  int flushes = 0;
  int compactions = 0;
};
class RocksHome : public AnsweringHome {
 public:
  virtual RocksWork work() const = 0;  // since it was opened last
};
std::unique_ptr<RocksHome> home_on_disk(Reopening reopening);

}  // namespace stator::test
