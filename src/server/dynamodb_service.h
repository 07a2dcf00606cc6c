// SPDX-License-Identifier: Apache-2.0
// DynamoDB's protocol on HTTP: operations by X-Amz-Target, error bodies, request ids, checksums.
//
// Thread safety: any thread can call handle. Reads respond on the calling thread; writes respond
// when they are durable, on the thread that committed them; CreateTable and DeleteTable on a
// thread that can wait for the disk. Lifetime: the engine must outlive every request in progress.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/authorize.h"
#include "base/processors.h"
#include "console/console.h"
#include "engine/background/worker.h"
#include "engine/engine.h"
#include "http/server.h"
#include "server/decision_log.h"
#include "server/host_filter.h"
#include "server/request_id.h"
#include "server/request_scope.h"
#include "server/signature.h"
#include "testmode/test_mode.h"

namespace stator::server {

struct Exchange;

inline constexpr std::size_t kBodyBytesMax = 16UL << 20;

class DynamoDbService {
 public:
  // Without a verifier, accepts any signature, but only local hosts and `allowed_hosts` in Host and
  // Origin. The verifier must outlive the service.
  explicit DynamoDbService(Engine& engine, const SignatureVerifier* verifier = nullptr,
                           std::vector<std::string> allowed_hosts = {},
                           const RequestObserver& observer = {},
                           console::Console console = console::Console())
      : engine_(engine),
        verifier_(verifier),
        hosts_(std::move(allowed_hosts)),
        console_(std::move(console)),
        observer_(observer) {}

  // The operations by which requests are counted. Valid until the process ends.
  static std::span<const std::string_view> operation_names();
  // Sets the function that makes the text of GET /metrics, on a separate thread. Call before the
  // first request; without it the page does not exist.
  void serve_metrics(std::function<std::string()> page) { metrics_page_ = std::move(page); }
  // Likewise for the JSON of GET /metrics/history?after=NUMBER. If signatures are verified, this
  // request needs one too.
  void serve_history(std::function<std::string(uint64_t after)> page) {
    history_page_ = std::move(page);
  }

  // Call before the first request. `decisions` can be null and must outlive the service.
  void set_access(DecisionLog* decisions, bool secure) {
    decisions_ = decisions;
    secure_ = secure;
  }

  // Call before the first request. Each response then has the header x-stator-test-mode, and the
  // rules are read and replaced at protocol::kTestModePath. It must outlive the service.
  void set_test_mode(testmode::TestMode* test_mode) { test_mode_ = test_mode; }

  void handle(const http::Request& request, http::Respond respond);
  // Serves only the metrics and the health checks; with `checks_host`, only to local and allowed
  // hosts.
  void handle_monitoring(const http::Request& request, bool checks_host, http::Respond respond);

  // From now on, new operations get ServiceUnavailable, and GET /health/ready returns 503. Does not
  // affect operations in progress. Thread safety: any thread.
  void refuse_operations() { stopping_.store(true, std::memory_order_relaxed); }

  bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }

  // For http::ServerOptions: the early rejection of a request by its headers, whether a request is
  // handled on a side thread, and the memory that this takes.
  std::optional<http::Response> screen(const http::Request& head) const;
  bool aside(const http::Request& request) const;
  static std::size_t demand(const http::Request& request);

  // For http::ServerOptions: the responses to malformed HTTP, to a request without memory, and to a
  // body over kBodyBytesMax.
  static http::Response malformed();
  static http::Response overloaded();
  static http::Response too_large();

 private:
  // With `shows_database`, readiness describes the database of a store with one.
  http::Response page(std::string_view path, const RequestId& id, bool shows_database) const;
  void handle_operation(const http::Request& request, Exchange exchange);
  void send_metrics(Exchange exchange);
  void send_history(const http::Request& request, Exchange exchange);
  void handle_test_mode(const http::Request& request, Exchange exchange);
  // Whether the signer may do `action`; true if signatures are not verified. If false, a response
  // has been sent.
  bool is_admitted(const http::Request& request, std::string_view action, Exchange& exchange);
  // Responds on a thread that can wait for locks and files.
  void send_made(Exchange exchange, std::string_view content_type,
                 std::function<std::string()> make);
  bool decides_access(const AccessKey& key) const;
  // The rights of the request's signer; absent if no policy applies. Errors: those of the signature
  // and of the key's limits.
  Result<std::optional<access::Access>> admit(const http::Request& request, Exchange& exchange);

  Engine& engine_;
  const SignatureVerifier* verifier_;
  HostFilter hosts_;
  console::Console console_;
  std::atomic<int64_t> last_large_page_ms_ = 0;  // of Query, Scan and similar operations
  std::atomic<bool> stopping_ = false;
  RequestObserver observer_;
  DecisionLog* decisions_ = nullptr;
  bool secure_ = false;                      // requests come over TLS
  testmode::TestMode* test_mode_ = nullptr;  // null: off
  std::function<std::string()> metrics_page_ = {};
  std::function<std::string(uint64_t after)> history_page_ = {};
  std::atomic<int> metrics_waiting_ = 0;
  Worker waiting_;
  // Vector searches keep their threads busy, so half of the processors are left for other requests.
  Worker searching_{static_cast<std::size_t>(std::max(1, usable_processors() / 2))};
  Worker metrics_worker_;
};

}  // namespace stator::server
