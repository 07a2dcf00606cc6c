// SPDX-License-Identifier: Apache-2.0
// Tls: what a server shows to its clients, and asks of them. TlsSession: one connection's TLS.
//
// TLS 1.2 with forward secrecy, and 1.3. Nothing is renegotiated.
// Thread safety: Tls from any thread; a TlsSession as its connection.
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
  std::filesystem::path certificate;     // with the chain that follows it
  std::filesystem::path key;             // without a password
  std::filesystem::path client_ca = {};  // clients need a certificate of these; empty: they do not
};

class TlsSession {
 public:
  // Of a connected socket in non-blocking mode, which stays the caller's.
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
  // The first call also makes the handshake.
  Step read(std::span<char> space);
  // Writes may be of part of the bytes; after kWant… the next one starts with the same bytes.
  Step write(std::string_view bytes);
  // Tells the peer that nothing follows, if the socket takes it.
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
  // kInvalidArgument or kIo, with the file, for what cannot be read, is no PEM, or does not belong
  // together.
  static Result<std::shared_ptr<Tls>> load(TlsFiles files);

  // Reads the files again for new connections. On an error nothing changes.
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
