// SPDX-License-Identifier: Apache-2.0
// Server: a database and its HTTP endpoint in this process, as `stator serve` runs it.
//
// Thread safety: start, stop and destruction from one thread.
// Errors: those of the store (kLocked, kCorruption, kIo) and of the address (kIo,
// kInvalidArgument), each one line that says what and how to mend it.
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
  std::optional<std::filesystem::path> data = {};  // absent: in memory
  Durability durability = Durability::kSync;
  uint64_t memory_bytes = 0;           // that the server may use; 0: all that the process may
  std::size_t cache_bytes = 0;         // see DatabaseOptions
  std::filesystem::path buckets = {};  // the same
  ListenAddress listen = {};
  int threads = 0;                                    // event loops; 0: one a core
  std::chrono::milliseconds idle_timeout{120'000};    // of a connection between requests
  std::chrono::milliseconds request_timeout{30'000};  // see http::ServerOptions
  std::chrono::milliseconds sweep_interval{1000};     // see EngineOptions
  // Whose signatures are accepted. Absent: anybody's, on loopback only, unless the next is set.
  std::optional<Credentials> credentials = {};
  bool unsigned_beyond_loopback = false;
  // Read instead of `credentials`, and again when it or a policy that it names changes. Empty: not.
  std::filesystem::path credentials_file = {};
  // HTTPS instead of HTTP, on both addresses. The files are read again when they change.
  std::optional<http::TlsFiles> tls = {};
  // Where the metrics and the health checks are served too. Absent: not there.
  std::optional<ListenAddress> metrics = {};
  std::size_t metrics_tables = 100;                 // that have metrics of their own
  std::string version = {};                         // for the metrics
  std::chrono::milliseconds sample_interval{5000};  // of the last hour's metrics
  // A line for each request: a file, "-" for standard output, empty for none. And for those on
  // standard error that take this long; zero for none.
  std::string access_log = {};
  std::chrono::milliseconds slow_request{0};
  LogFormat log_format = LogFormat::kText;
  // A line for each decision of a policy: a file, "-" for standard output, empty for none.
  std::string decision_log = {};
  Decisions decisions = Decisions::kDenied;
  // Names by which pages and clients may address a server without credentials, see HostFilter.
  std::vector<std::string> allowed_hosts = {};
  // Where the console's files are read instead of the binary, see console::Console.
  std::filesystem::path console_directory = {};
};

class Server {
 public:
  // kInvalidArgument beyond loopback without credentials, unless that is allowed.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options);
  ~Server();  // as stop()

  std::string metrics_url() const;  // empty without ServerOptions::metrics
  std::string url() const;          // "http://127.0.0.1:8000"
  uint16_t port() const;
  bool is_on_loopback() const;
  // Opens the logs again by their names, and looks at once whether other files have changed.
  // What cannot be used is logged, and the old one is kept.
  void reload();
  // From now on reports that it is not ready, and refuses new operations with ServiceUnavailable.
  // Returns after `at_least`, when no request is in progress or 5 seconds later. New connections
  // are still accepted, for health checks.
  void drain(std::chrono::milliseconds at_least);
  // Lets requests under way finish (a few seconds at most), then closes the database.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::server
