// SPDX-License-Identifier: Apache-2.0
// SharedBackend: a transactional service in memory, for several SharedStores. It fails like a
// network and a database: requests are delayed and reordered, responses are lost, and requests
// arrive after their sender has given up.
//
// Thread safety: any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/read_rows.h"
#include "storage/transact_store.h"

namespace stator::test {

// How many of 1,000 requests fail in each way.
struct SharedFaults {
  int conflicts = 0;     // rejected without a conflicting commit
  int lost_replies = 0;  // applied, but the sender gets no response
  int late = 0;          // the sender gets no response, and the request arrives later
  int outages = 0;       // lookups of outcomes that fail
  int slow = 0;          // commits that become visible long after they got commit versions
};

// Where a request waits.
enum class SharedWait { kNetwork, kDatabase };

class SharedBackend {
 public:
  // `wait` replaces all waits, for threads of which one runs at a time (VirtualWorld). The stores
  // then have no threads: their calls complete on the calling thread.
  explicit SharedBackend(uint32_t seed, SharedFaults faults = {},
                         std::function<void(SharedWait)> wait = {})
      : random_(seed), faults_(faults), wait_(std::move(wait)) {}

  bool is_virtual() const { return static_cast<bool>(wait_); }
  // Waits between two attempts of a request.
  void back_off(uint64_t steps);

  struct Versioned {
    uint64_t version = 0;  // of its last write; 0: absent
    std::optional<std::string> value;
  };
  // Reads one state.
  std::vector<Versioned> get(std::span<const std::string> keys);
  Result<void> read(const ReadRequest& request, ReadVisitor visit);
  Result<void> with_view(ViewBody body);

  struct Guard {
    std::string key;
    uint64_t version = 0;
  };
  struct Request {
    uint64_t id = 0;  // unique among all stores
    std::vector<Guard> guards;
    std::vector<Guard> schemas = {};  // the expected versions of schema rows
    Batch batch;
    std::vector<std::string> reported = {};  // keys whose replaced values the sender wants
  };
  enum class Reply { kCommitted, kConflict, kSchemaChanged, kLost };
  struct Outcome {
    Reply reply = Reply::kCommitted;
    uint64_t sequence = 0;  // of a commit
    // Those of the request's `reported` keys; empty if the reply was lost.
    std::vector<std::optional<std::string>> replaced = {};
  };
  uint64_t new_id();
  // Applies the batch if the guarded keys and the schemas still have these versions.
  Outcome commit(Request request);
  // Returns the outcome of a request. If it was not applied yet, it never will be. Absent: no
  // response.
  std::optional<Outcome> settle(uint64_t id);

  LogPosition safe_position();
  void drop_range(const KeyRange& range);
  // Delivers the requests that are in transit.
  void deliver_late();

 private:
  using Rows = std::map<std::string, Versioned, std::less<>>;
  class View;

  bool must_wait(const Request& request, const std::set<std::string>& keys) const;
  bool happens(int in_a_thousand);
  void delay(SharedWait where = SharedWait::kNetwork);
  Outcome execute(Request request);
  void deliver_one();

  std::mutex mutex_;
  std::condition_variable unlocked_;
  std::mt19937 random_;
  const SharedFaults faults_;
  const std::function<void(SharedWait)> wait_;
  Rows rows_;
  std::set<std::string> locked_;          // keys of commits in progress
  std::multiset<std::string> expected_;   // schemas that these commits expect
  std::map<uint64_t, Outcome> outcomes_;  // of requests that were applied or never will be
  std::multiset<uint64_t>
      commit_versions_open_;  // the first commit version of each commit in progress
  std::vector<Request> late_;
  uint64_t last_id_ = 0;
  uint64_t last_version_ = 0;
  uint64_t last_commit_version_ = 0;
};

}  // namespace stator::test
