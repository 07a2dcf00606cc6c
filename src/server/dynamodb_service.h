// SPDX-License-Identifier: Apache-2.0
// DynamoDB's protocol on HTTP: operations by X-Amz-Target, error bodies, request ids, checksums.
//
// Thread safety: handle may be called from any threads at once. Reads answer on the calling thread,
// writes once they are as durable as the engine's store promises, on the thread that made them so,
// CreateTable and DeleteTable on a thread that may wait for the disk.
// Lifetime: the engine must outlive every request under way.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
#pragma once

#include <cstddef>

#include "engine/engine.h"
#include "engine/worker.h"
#include "http/server.h"

namespace stator::server {

inline constexpr std::size_t kBodyBytesMax = 16UL << 20;

class DynamoDbService {
 public:
  explicit DynamoDbService(Engine& engine) : engine_(engine) {}

  void handle(const http::Request& request, http::Respond respond);

  // For http::ServerOptions: what is answered to no HTTP, and to a body over kBodyBytesMax.
  static http::Response malformed();
  static http::Response too_large();

 private:
  void handle_operation(const http::Request& request, http::Respond respond);

  Engine& engine_;
  Worker waiting_;
};

}  // namespace stator::server
