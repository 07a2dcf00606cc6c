// SPDX-License-Identifier: Apache-2.0
#include "server/metrics_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace stator::server {
namespace {

// Counters only grow.
uint32_t difference(uint64_t now, uint64_t before) {
  return static_cast<uint32_t>(
      std::min<uint64_t>(now - before, std::numeric_limits<uint32_t>::max()));
}

constexpr double kMillisecondsPerSecond = 1000;
constexpr double kNanosecondsPerMillisecond = 1e6;

template <class List, class Append>
void append_list(std::string& json, const List& list, Append append) {
  bool first = true;
  for (const auto& element : list) {
    if (!std::exchange(first, false)) json += ',';
    append(element);
  }
}

struct Named {
  std::string_view name;
  double (*of)(const MetricsReading& reading);
};
using R = MetricsReading;

constexpr auto kCounterNames = std::to_array<Named>(
    {{"rejections", [](const R& r) { return static_cast<double>(r.requests.rejections); }},
     {"commits", [](const R& r) { return static_cast<double>(r.store.commits); }},
     {"commit_groups", [](const R& r) { return static_cast<double>(r.store.commit_groups); }},
     {"syncs", [](const R& r) { return static_cast<double>(r.store.syncs); }},
     {"cpu_seconds", [](const R& r) { return r.process.cpu_seconds; }}});

constexpr auto kGaugeNames = std::to_array<Named>(
    {{"ready", [](const R& r) { return r.ready ? 1.0 : 0.0; }},
     {"connections", [](const R& r) { return static_cast<double>(r.http.connections); }},
     {"connections_max", [](const R& r) { return static_cast<double>(r.http.connections_max); }},
     {"requests_in_progress",
      [](const R& r) { return static_cast<double>(r.http.requests_in_progress); }},
     {"held_bytes", [](const R& r) { return static_cast<double>(r.http.held_bytes); }},
     {"held_max_bytes", [](const R& r) { return static_cast<double>(r.http.held_bytes_max); }},
     {"large_request_queue",
      [](const R& r) { return static_cast<double>(r.http.side_queue_length); }},
     {"commit_queue", [](const R& r) { return static_cast<double>(r.store.queued_commits); }},
     {"cache_bytes", [](const R& r) { return static_cast<double>(r.store.cache_bytes); }},
     {"cache_max_bytes", [](const R& r) { return static_cast<double>(r.store.cache_bytes_max); }},
     {"write_buffer_bytes",
      [](const R& r) { return static_cast<double>(r.store.write_buffer_bytes); }},
     {"file_bytes", [](const R& r) { return static_cast<double>(r.store.file_bytes); }},
     {"compaction_bytes",
      [](const R& r) { return static_cast<double>(r.store.pending_compaction_bytes); }},
     {"disk_free_bytes", [](const R& r) { return static_cast<double>(r.disk_free_bytes); }},
     {"resident_bytes", [](const R& r) { return static_cast<double>(r.process.resident_bytes); }},
     {"open_files", [](const R& r) { return static_cast<double>(r.process.open_files); }},
     {"tables", [](const R& r) { return static_cast<double>(r.engine.tables); }},
     {"jobs", [](const R& r) { return static_cast<double>(r.engine.jobs); }},
     {"failing_jobs", [](const R& r) { return static_cast<double>(r.engine.failing_jobs); }},
     {"oldest_job_seconds", [](const R& r) {
        return static_cast<double>(r.engine.oldest_job.count()) / kMillisecondsPerSecond;
      }}});

}  // namespace

void MetricsHistory::add(const MetricsReading& reading) {
  static_assert(kCounterNames.size() == kCounters && kGaugeNames.size() == kGauges);
  const std::scoped_lock lock(mutex_);
  if (readings_ > 0) {
    const auto length = reading.steady - last_.steady;
    Sample sample{.number = readings_,
                  .end_ms = reading.unix_ms,
                  .length_ms = std::chrono::round<std::chrono::milliseconds>(length).count()};
    const std::size_t buckets = RequestMetrics::duration_bounds().size() + 1;
    for (std::size_t i = 0; i < metrics_.operation_count(); ++i) {
      OperationCounts counts{.operation = static_cast<uint16_t>(i)};
      bool used = false;
      for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        const std::size_t at = i * buckets + bucket;
        counts.durations.at(bucket) =
            difference(reading.requests.durations.at(at), last_.requests.durations.at(at));
        used = used || counts.durations.at(bucket) > 0;
      }
      if (used) sample.operations.push_back(counts);
    }
    for (std::size_t i = 0; i < reading.requests.errors.size(); ++i) {
      const uint32_t count = difference(reading.requests.errors[i], last_.requests.errors.at(i));
      if (count > 0) sample.errors.push_back({static_cast<uint16_t>(i), count});
    }
    sample.operations.shrink_to_fit();
    sample.errors.shrink_to_fit();
    for (std::size_t i = 0; i < kCounters; ++i) {
      sample.counters[i] = kCounterNames[i].of(reading) - kCounterNames[i].of(last_);
    }
    for (std::size_t i = 0; i < kGauges; ++i) sample.gauges[i] = kGaugeNames[i].of(reading);
    if (samples_.size() == kSamplesMax) samples_.pop_front();
    samples_.push_back(std::move(sample));
  }
  last_ = reading;
  ++readings_;
}

std::string MetricsHistory::to_json(const HistoryHead& head, uint64_t after) const {
  std::string json =
      fmt::format(R"({{"version":"{}","started_ms":{},"bounds_ms":[)", head.version, head.start_ms);
  append_list(json, RequestMetrics::duration_bounds(), [&](uint64_t bound) {
    fmt::format_to(std::back_inserter(json), "{}",
                   static_cast<double>(bound) / kNanosecondsPerMillisecond);
  });
  const auto append_name = [&](const Named& named) { json.append("\"").append(named.name) += '"'; };
  json += R"(],"counters":[)";
  append_list(json, kCounterNames, append_name);
  json += R"(],"gauges":[)";
  append_list(json, kGaugeNames, append_name);
  json += R"(],"samples":[)";
  const std::scoped_lock lock(mutex_);
  const auto first = std::ranges::upper_bound(samples_, after, {}, &Sample::number);
  append_list(json, std::ranges::subrange(first, samples_.end()),
              [&](const Sample& sample) { append_sample(json, sample); });
  json += "]}";
  return json;
}

void MetricsHistory::append_sample(std::string& json, const Sample& sample) const {
  const auto out = std::back_inserter(json);
  fmt::format_to(out, R"({{"number":{},"end_ms":{},"length_ms":{},"operations":{{)", sample.number,
                 sample.end_ms, sample.length_ms);
  append_list(json, sample.operations, [&](const OperationCounts& counts) {
    // Omits the zeros at the end.
    const auto end =
        std::find_if(counts.durations.rbegin(), counts.durations.rend(), [](uint32_t count) {
          return count > 0;
        }).base();
    fmt::format_to(out, R"("{}":[{}])", metrics_.name_of(counts.operation),
                   fmt::join(counts.durations.begin(), end, ","));
  });
  json += R"(},"errors":{)";
  append_list(json, sample.errors, [&](const ErrorCount& error) {
    fmt::format_to(out, R"("{}":{})", RequestMetrics::error_name(error.error), error.count);
  });
  uint64_t throttles = 0;
  for (const ErrorCount& error : sample.errors) {
    if (RequestMetrics::is_throttle(error.error)) throttles += error.count;
  }
  fmt::format_to(out, R"(}},"throttles":{},"counters":[{}],"gauges":[{}]}})", throttles,
                 fmt::join(sample.counters, ","), fmt::join(sample.gauges, ","));
}

}  // namespace stator::server
