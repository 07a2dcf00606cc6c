// SPDX-License-Identifier: Apache-2.0
// DynamoDB's protocol on HTTP: operations by X-Amz-Target, error bodies, request ids, checksums.
//
// Thread safety: handle may be called from any threads at once. Reads answer on the calling thread,
// writes once they are as durable as the engine's store promises, on the thread that made them so,
// CreateTable and DeleteTable on a thread that may wait for the disk.
// Lifetime: the engine must outlive every request under way.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
#pragma once

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
#include "console/console.h"
#include "engine/background/worker.h"
#include "engine/engine.h"
#include "http/server.h"
#include "server/decision_log.h"
#include "server/host_filter.h"
#include "server/request_id.h"
#include "server/request_scope.h"
#include "server/signature.h"

namespace stator::server {

struct Exchange;

inline constexpr std::size_t kBodyBytesMax = 16UL << 20;

class DynamoDbService {
 public:
  // Without a verifier any signature is accepted, from this machine's pages and those of
  // `allowed_hosts` only. The verifier must outlive the service.
  explicit DynamoDbService(Engine& engine, const SignatureVerifier* verifier = nullptr,
                           std::vector<std::string> allowed_hosts = {},
                           const RequestObserver& observer = {},
                           console::Console console = console::Console())
      : engine_(engine),
        verifier_(verifier),
        hosts_(std::move(allowed_hosts)),
        console_(std::move(console)),
        observer_(observer) {}

  // By which requests are counted; they live as long as the process.
  static std::span<const std::string_view> operation_names();
  // Makes the text of GET /metrics, on a thread of its own. Before the first request; without it
  // there is no such page.
  void serve_metrics(std::function<std::string()> page) { metrics_page_ = std::move(page); }
  // Makes the JSON of GET /metrics/history?after=NUMBER, in the same way. Where signatures are
  // verified, this request needs one too.
  void serve_history(std::function<std::string(uint64_t after)> page) {
    history_page_ = std::move(page);
  }

  // Before the first request. `decisions` may be null, and must outlive the service.
  void set_access(DecisionLog* decisions, bool secure) {
    decisions_ = decisions;
    secure_ = secure;
  }

  void handle(const http::Request& request, http::Respond respond);
  // Serves the metrics and the health checks alone. With `checks_host`, for local or allowed hosts.
  void handle_monitoring(const http::Request& request, bool checks_host, http::Respond respond);

  // From now on new operations get ServiceUnavailable, and GET /health/ready answers 503. Any
  // thread. Operations in progress are not affected.
  void refuse_operations() { stopping_.store(true, std::memory_order_relaxed); }

  bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }

  // For http::ServerOptions: the refusal of a request whose headers are enough for one, whether one
  // is handled beside the event loops, and the memory that this takes.
  std::optional<http::Response> screen(const http::Request& head) const;
  bool aside(const http::Request& request) const;
  static std::size_t demand(const http::Request& request);

  // For http::ServerOptions: what is answered to no HTTP, to a request that there is no memory for,
  // and to a body over kBodyBytesMax.
  static http::Response malformed();
  static http::Response overloaded();
  static http::Response too_large();

 private:
  http::Response page(std::string_view path, const RequestId& id) const;
  void handle_operation(const http::Request& request, Exchange exchange);
  void send_metrics(Exchange exchange);
  void send_history(const http::Request& request, Exchange exchange);
  // On a thread that may wait for locks and files.
  void send_made(Exchange exchange, std::string_view content_type,
                 std::function<std::string()> make);
  bool decides_access(const AccessKey& key) const;
  // The rights of the request's signer, nothing if they need no look. Also for errors of the
  // signature and of the key's limits.
  Result<std::optional<access::Access>> admit(const http::Request& request, Exchange& exchange);

  Engine& engine_;
  const SignatureVerifier* verifier_;
  HostFilter hosts_;
  console::Console console_;
  std::atomic<int64_t> last_large_page_ms_ = 0;  // of Query, Scan and their like
  std::atomic<bool> stopping_ = false;
  RequestObserver observer_;
  DecisionLog* decisions_ = nullptr;
  bool secure_ = false;  // requests come over TLS
  std::function<std::string()> metrics_page_ = {};
  std::function<std::string(uint64_t after)> history_page_ = {};
  std::atomic<int> metrics_waiting_ = 0;
  Worker waiting_;
  Worker metrics_worker_;
};

}  // namespace stator::server
