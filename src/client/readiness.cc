// SPDX-License-Identifier: Apache-2.0
#include "client/readiness.h"

#include <algorithm>
#include <memory>

#include "client/curl_library.h"
#include "client/curl_transport.h"

namespace stator {
namespace {

constexpr std::size_t kTextBytesMax = 4096;

std::size_t append_text(char* bytes, std::size_t size, std::size_t count, void* target) {
  auto& text = *static_cast<std::string*>(target);
  if (text.size() + size * count > kTextBytesMax) return 0;
  text.append(bytes, size * count);
  return size * count;
}

struct EasyCleanup {
  void operator()(CURL* handle) const { curl().easy_cleanup(handle); }
};

}  // namespace

Result<Readiness> ask_readiness(const ReadinessOptions& options) {
  const std::string& endpoint = options.endpoint;
  STATOR_RETURN_IF_ERROR(check_endpoint(endpoint));
  const std::unique_ptr<CURL, EasyCleanup> handle(curl().easy_init());
  const auto set = [&](CURLoption option, auto value) {
    curl().easy_setopt(handle.get(), option, value);
  };
  Readiness response;
  const std::string url = endpoint + (endpoint.ends_with('/') ? "" : "/") + "health/ready";
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_SSL_VERIFYPEER, 0L);
  set(CURLOPT_SSL_VERIFYHOST, 0L);
  if (!options.client_certificate.empty()) {
    set(CURLOPT_SSLCERT, options.client_certificate.c_str());
    set(CURLOPT_SSLKEY, options.client_key.c_str());
  }
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(options.timeout.count()));
  set(CURLOPT_WRITEFUNCTION, append_text);
  set(CURLOPT_WRITEDATA, &response.text);
  const CURLcode code = curl().easy_perform(handle.get());
  if (code == CURLE_SSL_CERTPROBLEM) {
    return fail(Code::kIo, "could not use client certificate '" + options.client_certificate +
                               "' with key '" + options.client_key + "'");
  }
  if (code != CURLE_OK) {
    return fail(Code::kUnavailable, endpoint + ": " + curl().easy_strerror(code));
  }
  long status = 0;
  curl().easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  response.ready = status == 200;
  response.text.resize(std::min(response.text.size(), response.text.find('\n')));
  return response;
}

}  // namespace stator
