// SPDX-License-Identifier: Apache-2.0
// The text of GET /metrics. docs/metrics.md lists the metrics.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "http/server.h"
#include "server/request_metrics.h"

namespace stator::server {

struct MetricsSources {
  const RequestMetrics& requests;
  Engine& engine;
  http::ServerStats http = {};
  std::string_view version = {};
  std::chrono::system_clock::time_point start = {};  // of the server
  bool stopping = false;
  uint64_t dropped_log_lines = 0;
};

// Can wait for the store's locks and reads files below /proc, so do not call it on an event loop.
std::string metrics_page(const MetricsSources& sources);

}  // namespace stator::server
