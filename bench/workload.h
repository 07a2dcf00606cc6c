// SPDX-License-Identifier: Apache-2.0
// The workload of the benchmarks: two tables, items of 1 KB, and six operations, in C++ and as
// HTTP.
//
// "Bench" has one item per number; "Pages" has partitions of kPageItems items each.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "stator/client.h"

namespace stator::bench {

inline constexpr uint64_t kPageItems = 100;
inline constexpr uint64_t kPartitions = 100;  // of "Pages"

struct WorkOptions {
  uint64_t items = 100'000;                    // of "Bench"
  std::string filler = std::string(950, 'x');  // makes an item of about 1 KB
};

// An item of "Bench". Each has another "n", so that a put of it is a change: the engine writes
// nothing for a put that changes nothing.
Item item_of(uint64_t number, const std::string& filler);

// Creates and fills both tables. Prints the error if that fails.
bool fill(Client& client, const WorkOptions& options);

enum class Kind { kGet, kPut, kUpdate, kQuery, kBatchWrite, kTransact };
inline constexpr Kind kKinds[] = {Kind::kGet,   Kind::kPut,        Kind::kUpdate,
                                  Kind::kQuery, Kind::kBatchWrite, Kind::kTransact};
// "PutItem", "Query of 100 items", "TransactWriteItems of 4".
const char* title_of(Kind kind);
bool writes(Kind kind);

// Random item numbers, a different sequence in each thread.
class Numbers {
 public:
  Numbers(int thread, uint64_t items) : random_(static_cast<uint64_t>(thread) + 1), items_(items) {}
  uint64_t next() { return random_() % items_; }

 private:
  std::mt19937_64 random_;
  uint64_t items_;
};

// In process, or through an HttpClient.
OperationFactory on_client(Client& client, Kind kind, const WorkOptions& options);
// Adds 1 to one item, the same for every thread.
OperationFactory count_on_client(Client& client);
// Creates each request just before sending it, on one connection per thread.
OperationFactory over_http(const std::string& url, Kind kind, const WorkOptions& options);
// Repeats the same GetItem requests, which are signed beforehand.
OperationFactory signed_gets_over_http(const std::string& url, const WorkOptions& options);

}  // namespace stator::bench
