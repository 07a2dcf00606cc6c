// SPDX-License-Identifier: Apache-2.0
// Server: a database and its HTTP endpoint in this process, as in `stator serve`.
//
// Thread safety: start, stop and destroy it on one thread.
// Errors: those of the store (kLocked, kCorruption, kIo) and of the address (kIo,
// kInvalidArgument), each with one line that contains the problem and its remedy.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/tls.h"
#include "server/credentials.h"
#include "server/decision_log.h"
#include "server/listen_address.h"
#include "server/log.h"
#include "stator/database.h"
#include "stator/result.h"

namespace stator::server {

struct ServerOptions {
  std::optional<std::filesystem::path> data = {};  // absent, without `store`: in memory
  std::string store = {};                          // see DatabaseOptions
  std::string schema = {};                         // see DatabaseOptions
  Durability durability = Durability::kSync;
  uint64_t memory_bytes = 0;                     // usable memory; 0: usable_memory_bytes()
  std::size_t cache_bytes = 0;                   // see DatabaseOptions
  std::size_t vector_cache_bytes = 0;            // see DatabaseOptions
  std::size_t approximate_search_rows = 50'000;  // 0: all searches of vectors are exact
  std::filesystem::path buckets = {};            // see DatabaseOptions
  ListenAddress listen = {};
  int threads = 0;                                    // event loops; 0: usable_processors()
  std::chrono::milliseconds idle_timeout{120'000};    // of a connection between requests
  std::chrono::milliseconds request_timeout{30'000};  // see http::ServerOptions
  std::chrono::milliseconds sweep_interval{1000};     // see EngineOptions
  // The keys whose signatures are accepted. Absent: any, on loopback only, unless the next is set.
  std::optional<Credentials> credentials = {};
  bool unsigned_beyond_loopback = false;
  // Read instead of `credentials`, and again when it or one of its policies changes. Empty: unused.
  std::filesystem::path credentials_file = {};
  // HTTPS instead of HTTP, on both addresses. The files are read again when they change.
  std::optional<http::TlsFiles> tls = {};
  // An additional address for the metrics and the health checks. Absent: none.
  std::optional<ListenAddress> metrics = {};
  std::size_t metrics_tables = 100;                 // maximum number of tables with metrics
  std::string version = {};                         // for the metrics
  std::chrono::milliseconds sample_interval{5000};  // of the last hour's metrics
  // A line for each request: a file, "-" for standard output, empty for none. Slow requests also
  // get a line on standard error; zero: none.
  std::string access_log = {};
  std::chrono::milliseconds slow_request{0};
  LogFormat log_format = LogFormat::kText;
  // A line for each decision of a policy: a file, "-" for standard output, empty for none.
  std::string decision_log = {};
  Decisions decisions = Decisions::kDenied;
  // Additional host names of a server without credentials, see HostFilter.
  std::vector<std::string> allowed_hosts = {};
  // A directory of the console's files that replace those in the binary, see console::Console.
  std::filesystem::path console_directory = {};
  // Faults for the tests of applications, in JSON, see docs/testing.md. Absent: none, and none can
  // be added.
  std::optional<std::string> test_mode = {};
};

class Server {
 public:
  // Errors: also kInvalidArgument beyond loopback without credentials, unless allowed.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options);
  ~Server();  // as stop()

  std::string metrics_url() const;  // empty without ServerOptions::metrics
  std::string url() const;          // "http://127.0.0.1:8000"
  uint16_t port() const;
  bool is_on_loopback() const;
  // Opens the logs again by their names, and checks at once whether other files have changed. Logs
  // errors and keeps the previous file.
  void reload();
  // Reports that the server is not ready, and rejects new operations with ServiceUnavailable.
  // Returns after `at_least`, once no request is in progress or 5 seconds later. New connections
  // are still accepted, for health checks.
  void drain(std::chrono::milliseconds at_least);
  // Waits for requests in progress (a few seconds at most), then closes the database.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::server
