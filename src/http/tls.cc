// SPDX-License-Identifier: Apache-2.0
#include "http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <system_error>
#include <utility>

namespace stator::http {
namespace {

// The text of OpenSSL's oldest error, which is the cause of the others. Clears the queue of errors.
std::string reason() {
  const unsigned long error = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(error)) return std::generic_category().message(ERR_GET_REASON(error));
  const char* text = error == 0 ? nullptr : ERR_reason_error_string(error);
  return text == nullptr ? "unknown reason" : text;
}

Failure unusable(const char* what, const std::filesystem::path& file) {
  const Code code = ERR_SYSTEM_ERROR(ERR_peek_error()) ? Code::kIo : Code::kInvalidArgument;
  return fail(code, std::string(what) + " '" + file.string() + "': " + reason());
}

// OpenSSL would ask for the password of an encrypted key on the terminal.
int refuse_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return -1;
}

// A client that offers other protocols gets HTTP/1.1 anyway, as without the extension.
int choose_http_1_1(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void* /*data*/) {
  static constexpr std::array<unsigned char, 9> kHttp = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* selected = nullptr;
  const int result = SSL_select_next_proto(&selected, chosen_size, kHttp.data(), kHttp.size(),
                                           offered, offered_size);
  *chosen = selected;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

Result<std::shared_ptr<SSL_CTX>> make_context(const TlsFiles& files) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(Code::kIo, "TLS: " + reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20");  // of TLS 1.2
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE |
                                         SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);  // tickets need none
  SSL_CTX_set_alpn_select_cb(context.get(), choose_http_1_1, nullptr);
  SSL_CTX_set_default_passwd_cb(context.get(), refuse_password);

  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) {
    return unusable("certificate", files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    if (ERR_GET_REASON(ERR_peek_last_error()) != X509_R_KEY_VALUES_MISMATCH) {
      return unusable("key", files.key);
    }
    return fail(Code::kInvalidArgument, "key '" + files.key.string() +
                                            "' is not that of certificate '" +
                                            files.certificate.string() + "'");
  }
  if (files.client_ca.empty()) return context;
  if (SSL_CTX_load_verify_file(context.get(), files.client_ca.c_str()) != 1) {
    return unusable("certificates of clients", files.client_ca);
  }
  SSL_CTX_set_client_CA_list(context.get(), SSL_load_client_CA_file(files.client_ca.c_str()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  static constexpr std::array<unsigned char, 6> kName = {'s', 't', 'a', 't', 'o', 'r'};
  SSL_CTX_set_session_id_context(context.get(), kName.data(), kName.size());
  return context;
}

}  // namespace

void TlsSession::Free::operator()(SSL* ssl) const {
  SSL_free(ssl);
}

TlsSession::TlsSession(SSL_CTX& context, int socket) : ssl_(SSL_new(&context)) {
  if (!ssl_ || SSL_set_fd(ssl_.get(), socket) != 1) throw std::bad_alloc();
  SSL_set_accept_state(ssl_.get());
}

TlsSession::~TlsSession() = default;

TlsSession::Step TlsSession::failed(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Outcome::kWantRead};
    case SSL_ERROR_WANT_WRITE:
      return {Outcome::kWantWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {Outcome::kEnded};
    default:
      broken_ = true;
      return {ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST ? Outcome::kNotTls
                                                                     : Outcome::kFailed};
  }
}

TlsSession::Step TlsSession::read(std::span<char> space) {
  std::size_t bytes = 0;
  while (bytes < space.size()) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), space.data() + bytes, space.size() - bytes, &count);
    if (result != 1) {
      if (bytes > 0) break;  // the next call returns the same result
      return failed(result);
    }
    bytes += count;
  }
  return {Outcome::kDone, bytes};
}

TlsSession::Step TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
  return result == 1 ? Step{Outcome::kDone, count} : failed(result);
}

void TlsSession::end() {
  if (broken_ || !is_established()) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

bool TlsSession::is_established() const {
  return SSL_is_init_finished(ssl_.get()) == 1;
}

Result<std::shared_ptr<Tls>> Tls::load(TlsFiles files) {
  std::shared_ptr<Tls> tls(new Tls(std::move(files)));
  STATOR_RETURN_IF_ERROR(tls->reload());
  return tls;
}

Result<void> Tls::reload() {
  STATOR_ASSIGN_OR_RETURN(auto context, make_context(files_));
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  return {};
}

std::unique_ptr<TlsSession> Tls::accept(int socket) const {
  std::shared_ptr<SSL_CTX> context;
  {
    const std::lock_guard lock(mutex_);
    context = context_;
  }
  return std::make_unique<TlsSession>(*context, socket);  // holds a reference to the context
}

}  // namespace stator::http
