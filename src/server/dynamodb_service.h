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
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/worker.h"
#include "http/server.h"
#include "server/host_filter.h"
#include "server/signature.h"

namespace stator::server {

inline constexpr std::size_t kBodyBytesMax = 16UL << 20;

class DynamoDbService {
 public:
  // Without a verifier any signature is accepted, from this machine's pages and those of
  // `allowed_hosts` only. The verifier must outlive the service.
  explicit DynamoDbService(Engine& engine, const SignatureVerifier* verifier = nullptr,
                           std::vector<std::string> allowed_hosts = {})
      : engine_(engine), verifier_(verifier), hosts_(std::move(allowed_hosts)) {}

  void handle(const http::Request& request, http::Respond respond);

  // From now on new operations get ServiceUnavailable, and GET /health/ready answers 503. Any
  // thread. Operations in progress are not affected.
  void refuse_operations() { stopping_.store(true, std::memory_order_relaxed); }

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
  http::Response page(std::string_view path) const;
  bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }
  void handle_operation(const http::Request& request, http::Respond respond);

  Engine& engine_;
  const SignatureVerifier* verifier_;
  HostFilter hosts_;
  std::atomic<int64_t> last_large_page_ms_ = 0;  // of Query, Scan and their like
  std::atomic<bool> stopping_ = false;
  Worker waiting_;
};

}  // namespace stator::server
