// SPDX-License-Identifier: Apache-2.0
// TlsConnection: a RawConnection over TLS, and the certificates for it. For tests.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "support/raw_connection.h"

namespace stator::test {

// A key and its certificate for 127.0.0.1 and localhost, signed by another one or by itself.
class Certificate {
 public:
  explicit Certificate(const std::string& name, const Certificate* issuer = nullptr)
      : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), x509_(X509_new(), X509_free) {
    X509* x509 = x509_.get();
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), next_serial());
    X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), 86'400);
    X509_set_pubkey(x509, key_.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(x509, X509_get_subject_name(issuer ? issuer->x509_.get() : x509));
    add(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    if (issuer == nullptr) add(NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(x509, (issuer ? issuer : this)->key_.get(), EVP_sha256());
  }

  void write(const std::filesystem::path& certificate, const std::filesystem::path& key) const {
    const std::unique_ptr<FILE, int (*)(FILE*)> in(std::fopen(certificate.c_str(), "w"), fclose);
    PEM_write_X509(in.get(), x509_.get());
    const std::unique_ptr<FILE, int (*)(FILE*)> to(std::fopen(key.c_str(), "w"), fclose);
    PEM_write_PrivateKey(to.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  X509* x509() const { return x509_.get(); }
  EVP_PKEY* key() const { return key_.get(); }

 private:
  static long next_serial() {
    static long serial = 0;
    return ++serial;
  }
  void add(int extension, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, x509_.get(), x509_.get(), nullptr, nullptr, 0);
    X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, &context, extension, value);
    X509_add_ext(x509_.get(), made, -1);
    X509_EXTENSION_free(made);
  }

  std::shared_ptr<EVP_PKEY> key_;
  std::shared_ptr<X509> x509_;
};

// What a client requires of the server, and the certificate that it presents.
struct TlsClient {
  const Certificate* trusted = nullptr;  // null: no check
  const Certificate* own = nullptr;
  int version_min = TLS1_2_VERSION;
  int version_max = TLS1_3_VERSION;
};

class TlsConnection : public RawConnection {
 public:
  TlsConnection(uint16_t port, const TlsClient& client)
      : RawConnection(port), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    SSL_CTX* context = context_.get();
    SSL_CTX_set_security_level(context, 0);  // permits old versions, to test rejections
    SSL_CTX_set_min_proto_version(context, client.version_min);
    SSL_CTX_set_max_proto_version(context, client.version_max);
    if (client.trusted != nullptr) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), client.trusted->x509());
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    }
    if (client.own != nullptr) {
      SSL_CTX_use_certificate(context, client.own->x509());
      SSL_CTX_use_PrivateKey(context, client.own->key());
    }
    ssl_.reset(SSL_new(context), SSL_free);
    SSL_set_fd(ssl_.get(), descriptor());
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL can write to sockets that the other side has closed
    is_secure_ = SSL_connect(ssl_.get()) == 1;
  }

  bool is_secure() const { return is_secure_; }  // whether this side's handshake succeeded
  std::string version() const { return SSL_get_version(ssl_.get()); }
  std::string peer_name() const {
    const std::unique_ptr<X509, void (*)(X509*)> peer(SSL_get1_peer_certificate(ssl_.get()),
                                                      X509_free);
    char name[64] = "";
    if (peer) {
      X509_NAME_get_text_by_NID(X509_get_subject_name(peer.get()), NID_commonName, name,
                                sizeof name);
    }
    return name;
  }
  void end_sending() override {
    SSL_shutdown(ssl_.get());
    RawConnection::end_sending();
  }

 protected:
  ssize_t send_some(std::string_view bytes) override {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  ssize_t receive_some(char* buffer, std::size_t size) override {
    const int count = SSL_read(ssl_.get(), buffer, static_cast<int>(size));
    return count > 0 ? count : 0;
  }

 private:
  std::shared_ptr<SSL_CTX> context_;
  std::shared_ptr<SSL> ssl_;
  bool is_secure_ = false;
};

}  // namespace stator::test
