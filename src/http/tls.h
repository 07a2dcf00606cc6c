// SPDX-License-Identifier: Apache-2.0
// Tls: a server's certificate and its requirements for clients. TlsSession: one connection's TLS.
//
// TLS 1.2 with forward secrecy, and 1.3, without renegotiation.
// Thread safety: Tls: any thread; TlsSession: as its connection.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "stator/result.h"

namespace stator::http {

// PEM files.
struct TlsFiles {
  std::filesystem::path certificate;  // followed by its chain
  std::filesystem::path key;          // without a password
  std::filesystem::path client_ca =
      {};  // clients need a certificate from these; empty: none needed
};

class TlsSession {
 public:
  // Borrows a connected socket in non-blocking mode.
  TlsSession(SSL_CTX& context, int socket);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession();

  enum class Outcome {
    kDone,       // `bytes` moved
    kWantRead,   // nothing, until the socket can be read
    kWantWrite,  // nothing, until it can be written
    kEnded,      // the peer has ended its side
    kNotTls,     // the peer speaks plain HTTP
    kFailed,
  };
  struct Step {
    Outcome outcome = Outcome::kFailed;
    std::size_t bytes = 0;
  };
  // The first call also does the handshake.
  Step read(std::span<char> space);
  // Can write only a part of the bytes. After kWant…, the next call must start with the same bytes.
  Step write(std::string_view bytes);
  // Notifies the peer of the end, if the socket can be written without waiting.
  void end();
  bool is_established() const;

 private:
  Step failed(int result);

  struct Free {
    void operator()(SSL* ssl) const;
  };
  std::unique_ptr<SSL, Free> ssl_;
  bool broken_ = false;  // nothing may be sent any more
};

class Tls {
 public:
  // Errors, with the file's name: kIo or kInvalidArgument if a file cannot be read, is not PEM, or
  // if key and certificate do not match.
  static Result<std::shared_ptr<Tls>> load(TlsFiles files);

  // Reads the files again, for new connections. Changes nothing if it fails.
  Result<void> reload();
  const TlsFiles& files() const { return files_; }
  std::unique_ptr<TlsSession> accept(int socket) const;

 private:
  explicit Tls(TlsFiles files) : files_(std::move(files)) {}

  TlsFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<SSL_CTX> context_;
};

}  // namespace stator::http
