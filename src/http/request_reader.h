// SPDX-License-Identifier: Apache-2.0
// RequestReader: cuts the bytes of one connection into HTTP/1.1 requests.
//
// Requests are parsed in place: method, headers and a body of known length stay where they were
// received; only chunked bodies are copied. Memory held is bounded by the limits, and grows with
// the bytes received, not with the length announced.
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "http/server.h"

namespace stator::http {

class RequestReader {
 public:
  RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  // Where to receive the next bytes into, never empty; then how many there were.
  std::span<char> prepare();
  void commit(std::size_t count);

  enum class Outcome {
    kNeedMore,   // receive, then parse again
    kRequest,    // request() is whole
    kMalformed,  // no HTTP, or headers over the limit; the reader is spent
    kTooLarge,   // a body over the limit; the reader is spent
  };
  Outcome parse();

  // After kRequest, until next(). `body` and the headers are views into the reader.
  const Request& request() const;
  // Who sends the requests of this reader, valid as long as it, and when this one arrived.
  void note(std::string_view peer, std::chrono::steady_clock::time_point arrival);
  bool keep_alive() const;
  bool is_http_1_0() const;

  // Once after the headers of a request of whose body more than 64 KB are still to come, or that is
  // chunked; else null. It has no body, and is valid until the next call.
  const Request* take_unfinished_head();
  // How much of a body of known length is still to come, and memory for all of it at once: the
  // bytes are then received without being copied again.
  std::size_t missing_bytes() const;
  void reserve_missing();
  // Once after the headers of a request whose sender waits for "100 Continue".
  bool take_continue_wish();
  // Memory held for bytes received, and giving all of it back: the reader is then spent.
  std::size_t held_bytes() const;
  void clear();
  // No byte of a request is at hand.
  bool empty() const;
  // Goes on to what follows the request.
  void next();

 private:
  class Parser;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::http
