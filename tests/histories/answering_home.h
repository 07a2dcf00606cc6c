// SPDX-License-Identifier: Apache-2.0
// Homes that respond to any request with JSON: in memory, on RocksDB with the smallest buffers,
// over HTTP, and on pairs of engines. Equal requests give equal bytes. For this, all have the same
// secret of the partition hash, their clocks do not advance, and the random table ids are removed.
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
  virtual void reopen() {}  // if the home has stored data
};

std::unique_ptr<AnsweringHome> home_in_memory();
std::unique_ptr<AnsweringHome> home_over_http();
// Two engines on one backend, like two servers. Each request is sent to one of them.
std::unique_ptr<AnsweringHome> home_on_pair(uint32_t seed);
std::unique_ptr<AnsweringHome> home_on_postgres(uint32_t seed);  // the same, in a separate schema

enum class Reopening { kNever, kWhenTold };
// How much work RocksDB did during a history.
struct RocksWork {
  int flushes = 0;
  int compactions = 0;
};
class RocksHome : public AnsweringHome {
 public:
  virtual RocksWork work() const = 0;  // since it was last opened
};
std::unique_ptr<RocksHome> home_on_disk(Reopening reopening);

}  // namespace stator::test
