// SPDX-License-Identifier: Apache-2.0
// MetricsHistory: a server's metrics of the last hour, as samples of a few seconds.
//
// A sample has the increases of the counters since the previous one, and the gauges at its end. At
// kSamplesMax samples, the oldest one is dropped.
// Thread safety: any thread; add() and to_json() take a lock that requests never take.
// Memory: at most kSamplesMax samples, each with at most one entry per operation and per error:
// under 5 MB if every operation fails in every way all the time, usually under 0.5 MB.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "http/server.h"
#include "server/process_stats.h"
#include "server/request_metrics.h"
#include "storage/transact_store.h"

namespace stator::server {

// A server's counters since its start, and its gauges, at one point in time.
struct MetricsReading {
  int64_t unix_ms = 0;
  std::chrono::nanoseconds steady{0};  // on a monotonic clock
  RequestTotals requests = {};
  http::ServerStats http = {};
  StoreStats store = {};
  EngineStats engine = {};
  ProcessStats process = {};
  uint64_t disk_free_bytes = 0;
  bool ready = true;
};

// The other members of to_json().
struct HistoryHead {
  std::string_view version = {};  // of the program; must need no JSON escaping
  int64_t start_ms = 0;           // of the server
};

class MetricsHistory {
 public:
  static constexpr std::size_t kSamplesMax = 720;  // an hour, at one every 5 seconds

  // `metrics` provides the names and must outlive the history.
  explicit MetricsHistory(const RequestMetrics& metrics) : metrics_(metrics) {}

  // Adds a sample of the changes since the previous reading; the first reading adds none.
  void add(const MetricsReading& reading);
  // Returns the samples whose number is greater than `after`. Numbers start with 1.
  // docs/metrics.md describes the form.
  std::string to_json(const HistoryHead& head, uint64_t after) const;

 private:
  static constexpr std::size_t kBucketsMax = 17;
  static constexpr std::size_t kCounters = 5;
  static constexpr std::size_t kGauges = 20;
  struct OperationCounts {
    uint16_t operation = 0;
    std::array<uint32_t, kBucketsMax> durations = {};
  };
  struct ErrorCount {
    uint16_t error = 0;
    uint32_t count = 0;
  };
  struct Sample {
    uint64_t number = 0;
    int64_t end_ms = 0;
    int64_t length_ms = 0;
    std::vector<OperationCounts> operations = {};  // of those that had requests
    std::vector<ErrorCount> errors = {};           // of those that happened
    std::array<double, kCounters> counters = {};
    std::array<double, kGauges> gauges = {};
  };

  void append_sample(std::string& json, const Sample& sample) const;

  const RequestMetrics& metrics_;
  mutable std::mutex mutex_;
  std::deque<Sample> samples_;
  MetricsReading last_;
  uint64_t readings_ = 0;
};

}  // namespace stator::server
