// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace stator {
namespace {

constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kBlockBytes = 64;

// OpenSSL's simpler functions look the algorithm up by name at each use, which costs more than
// hashing a short text.
class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new()) { STATOR_CHECK(context_ != nullptr); }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  ~Hasher() { EVP_MD_CTX_free(context_); }

  std::string hash(std::initializer_list<std::string_view> texts) {
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    std::string digest(kDigestBytes, '\0');
    bool done = EVP_DigestInit_ex2(context_, algorithm, nullptr) == 1;
    for (const std::string_view text : texts) {
      done = done && EVP_DigestUpdate(context_, text.data(), text.size()) == 1;
    }
    auto* const out = reinterpret_cast<unsigned char*>(digest.data());
    STATOR_CHECK(done && EVP_DigestFinal_ex(context_, out, nullptr) == 1);
    return digest;
  }

 private:
  EVP_MD_CTX* context_;
};

}  // namespace

std::string sha256(std::initializer_list<std::string_view> texts) {
  thread_local Hasher hasher;
  return hasher.hash(texts);
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string short_key;
  if (key.size() > kBlockBytes) {
    short_key = sha256({key});
    key = short_key;
  }
  std::string inner(kBlockBytes, 0x36);
  std::string outer(kBlockBytes, 0x5c);
  for (std::size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  return sha256({outer, sha256({inner, text})});
}

}  // namespace stator
