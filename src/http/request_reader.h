// SPDX-License-Identifier: Apache-2.0
// RequestReader: splits the bytes of one connection into HTTP/1.1 requests.
//
// Requests are parsed in place: method, headers and a body of known length stay in the receive
// buffer; only chunked bodies are copied. Memory is bounded by the limits and grows with the
// received bytes, not with the announced length. Thread safety: none.
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

  // Returns the buffer for the next bytes, never empty. After receiving, report their number.
  std::span<char> prepare();
  void commit(std::size_t count);

  enum class Outcome {
    kNeedMore,   // receive, then parse again
    kRequest,    // request() is complete
    kMalformed,  // not HTTP, or headers over the limit; the reader cannot be used again
    kTooLarge,   // a body over the limit; the reader cannot be used again
  };
  Outcome parse();

  // Valid after kRequest, until next(). `body` and the headers are views into the reader.
  const Request& request() const;
  // Sets the peer, which must outlive the reader, and the arrival time of the current request.
  void note(std::string_view peer, std::chrono::steady_clock::time_point arrival);
  bool keep_alive() const;
  bool is_http_1_0() const;

  // Returns the headers of a request, once, if it is chunked or if more than 64 KB of its body are
  // still to come; otherwise null. The request has no body and is valid until the next call.
  const Request* take_unfinished_head();
  // The number of bytes of a body of known length that are still to come; and the allocation of
  // memory for all of them, so that they are received without being copied again.
  std::size_t missing_bytes() const;
  void reserve_missing();
  // Returns true once after the headers of a request whose sender waits for "100 Continue".
  bool take_continue_wish();
  // The memory held for received bytes; and its release, after which the reader cannot be used.
  std::size_t held_bytes() const;
  void clear();
  // Whether the buffer contains no byte of a request.
  bool empty() const;
  // Advances to the bytes after the request.
  void next();

 private:
  class Parser;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::http
