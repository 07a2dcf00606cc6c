// SPDX-License-Identifier: Apache-2.0
#include "client/curl_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "client/curl_library.h"
#include "protocol/facts.h"

namespace stator {
namespace {

constexpr std::size_t kIdleHandlesMax = 64;
constexpr std::size_t kResponseBytesMax = 64UL << 20;  // four times DynamoDB's largest response

std::size_t collect(char* bytes, std::size_t size, std::size_t count, void* target) {
  auto& body = *static_cast<std::string*>(target);
  if (body.size() + size * count > kResponseBytesMax) return 0;
  body.append(bytes, size * count);
  return size * count;
}

// The value of the header `name` (in lower case), if `line` is that header.
std::optional<std::string> header_value(std::string_view line, std::string_view name) {
  const bool is_named = line.size() > name.size() && line[name.size()] == ':' &&
                        std::ranges::equal(line.substr(0, name.size()), name, [](char a, char b) {
                          return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b;
                        });
  if (!is_named) return std::nullopt;
  std::string value(line.substr(name.size() + 1));
  std::erase_if(value, [](char c) { return c == ' ' || c == '\r' || c == '\n'; });
  return value;
}

std::size_t read_header(char* bytes, std::size_t size, std::size_t count, void* target) {
  auto& response = *static_cast<HttpResponse*>(target);
  const std::string_view line(bytes, size * count);
  if (auto checksum = header_value(line, "x-amz-crc32")) {
    response.crc32 = std::move(*checksum);
  } else if (auto examined = header_value(line, protocol::kExaminedHeader)) {
    response.examined = std::move(*examined);
  }
  return size * count;
}

// Runs before each request that libcurl sends. If a kept connection ends without a response,
// libcurl would send the request again, although the first one might have taken effect. The caller
// decides whether to retry.
int begin_request(void* count, char* /*to*/, char* /*from*/, int /*to_port*/, int /*from_port*/) {
  int& begun = *static_cast<int*>(count);
  return ++begun == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

// Runs about once a second, and more often while bytes move.
int end_if_stopped(void* stop, curl_off_t /*down_total*/, curl_off_t /*down*/,
                   curl_off_t /*up_total*/, curl_off_t /*up*/) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

struct UrlCleanup {
  void operator()(CURLU* url) const { curl().url_cleanup(url); }
};

class HeaderList {
 public:
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl().slist_free_all(list_); }
  void add(const std::string& line) { list_ = curl().slist_append(list_, line.c_str()); }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

}  // namespace

class CurlTransport::Handle {
 public:
  explicit Handle(const HttpClientOptions& options) : options_(options), curl_(curl().easy_init()) {
    set(CURLOPT_URL, options.endpoint.c_str());
    set(CURLOPT_NOSIGNAL, 1L);
    // For large bodies, libcurl sends "Expect: 100-continue"; do not wait for the response.
    // Omitting the header would need an "Expect:" line, which libcurl 7.88 signs although it does
    // not send it.
    set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
    set(CURLOPT_POST, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
    set(CURLOPT_AWS_SIGV4, fmt::format("aws:amz:{}:dynamodb", options.region).c_str());
    set(CURLOPT_USERNAME, options.credentials.access_key_id.c_str());
    set(CURLOPT_PASSWORD, options.credentials.secret_access_key.c_str());
    set(CURLOPT_WRITEFUNCTION, collect);
    set(CURLOPT_HEADERFUNCTION, read_header);
    set(CURLOPT_PREREQFUNCTION, begin_request);
    set(CURLOPT_PREREQDATA, &begun_);
    set(CURLOPT_XFERINFOFUNCTION, end_if_stopped);
    set(CURLOPT_XFERINFODATA, &stop_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { curl().easy_cleanup(curl_); }

  std::expected<HttpResponse, TransportError> post(std::string_view target, std::string_view body,
                                                   const CallLimits* limits) {
    limit(limits);
    HeaderList headers;
    headers.add("Content-Type: application/x-amz-json-1.0");
    headers.add(fmt::format("X-Amz-Target: {}", target));
    return perform(headers, body);
  }

  // The handle cannot post afterwards.
  std::expected<HttpResponse, TransportError> exchange(std::string_view path,
                                                       const std::string* body) {
    limit(nullptr);
    const std::string& endpoint = options_.endpoint;
    set(CURLOPT_URL,
        (endpoint.substr(0, endpoint.find_last_not_of('/') + 1) + std::string(path)).c_str());
    set(CURLOPT_CUSTOMREQUEST, body == nullptr ? "GET" : "PUT");
    HeaderList headers;
    headers.add("Content-Type: application/json");
    return perform(headers, body == nullptr ? std::string_view() : *body);
  }

 private:
  std::expected<HttpResponse, TransportError> perform(HeaderList& headers, std::string_view body) {
    if (!options_.credentials.session_token.empty()) {
      headers.add("X-Amz-Security-Token: " + options_.credentials.session_token);
    }
    HttpResponse response;
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    set(CURLOPT_POSTFIELDS,
        body.data());  // NOLINT(bugprone-suspicious-stringview-data-usage): sized
    set(CURLOPT_WRITEDATA, &response.body);
    set(CURLOPT_HEADERDATA, &response);
    begun_ = 0;
    const CURLcode code = curl().easy_perform(curl_);
    set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
    set(CURLOPT_POSTFIELDS, static_cast<const char*>(nullptr));
    if (code != CURLE_OK) return std::unexpected(error_of(code));
    long status = 0;
    curl().easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
    response.status = static_cast<int>(status);
    return response;
  }

  template <class T>
  void set(CURLoption option, T value) {
    curl().easy_setopt(curl_, option, value);
  }

  void limit(const CallLimits* limits) {
    using std::chrono::milliseconds;
    milliseconds longest = options_.request_timeout;
    if (limits != nullptr) {
      // 0 means no limit to libcurl.
      longest = std::clamp(std::chrono::ceil<milliseconds>(limits->for_attempt()), milliseconds(1),
                           longest);
    }
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(longest.count()));
    set(CURLOPT_CONNECTTIMEOUT_MS,
        static_cast<long>(std::min(longest, options_.connect_timeout).count()));
    stop_ = limits != nullptr ? limits->stop() : std::stop_token();
    set(CURLOPT_NOPROGRESS, stop_.stop_possible() ? 0L : 1L);
  }

  TransportError error_of(CURLcode code) const {
    const bool again = begun_ > 1;
    const std::string message =
        fmt::format("no response from {}: {}", options_.endpoint,
                    again ? "the connection ended" : curl().easy_strerror(code)) +
        (code == CURLE_COULDNT_CONNECT ? "; is the server running?" : "");
    long sent_bytes = 0;  // in the last request; the headers are sent first
    curl().easy_getinfo(curl_, CURLINFO_REQUEST_SIZE, &sent_bytes);
    const bool sent = sent_bytes > 0 || again;
    switch (code) {
      case CURLE_COULDNT_CONNECT:
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_SSL_CONNECT_ERROR:
        // A request that had begun was sent on a kept connection, which this one was to replace.
        return {begun_ > 0 ? TransportFailure::kBroken : TransportFailure::kNotSent, message};
      case CURLE_PEER_FAILED_VERIFICATION:
        return {TransportFailure::kRefused,
                fmt::format(
                    "no authority in {} has signed the certificate of {}",
                    options_.ca_file.empty() ? "this system's files" : "'" + options_.ca_file + "'",
                    options_.endpoint)};
      case CURLE_SSL_CACERT_BADFILE:
        return {TransportFailure::kRefused,
                fmt::format("cannot read certificates from '{}'", options_.ca_file)};
      case CURLE_OPERATION_TIMEDOUT:
        return {begun_ > 0 ? TransportFailure::kTimedOut : TransportFailure::kNotSent, message};
      case CURLE_WRITE_ERROR:
        return {TransportFailure::kOverLimit, fmt::format("the response of {} is over {} bytes",
                                                          options_.endpoint, kResponseBytesMax)};
      default:
        return {sent ? TransportFailure::kBroken : TransportFailure::kRefused, message};
    }
  }

  const HttpClientOptions& options_;
  CURL* curl_;
  int begun_ = 0;  // requests begun in the current call
  std::stop_token stop_;
};

Result<void> check_endpoint(const std::string& endpoint) {
  STATOR_RETURN_IF_ERROR(load_curl());
  const std::unique_ptr<CURLU, UrlCleanup> url(curl().url());
  char* scheme = nullptr;
  const bool parsed = url != nullptr &&
                      curl().url_set(url.get(), CURLUPART_URL, endpoint.c_str(), 0) == CURLUE_OK &&
                      curl().url_get(url.get(), CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK;
  const std::string name = scheme == nullptr ? "" : scheme;
  curl().free(scheme);
  if (parsed && (name == "http" || name == "https")) return {};
  return fail(Code::kInvalidArgument,
              fmt::format("endpoint: '{}' is not an http or https URL", endpoint));
}

CurlTransport::CurlTransport(const HttpClientOptions& options) : options_(options) {}

CurlTransport::~CurlTransport() = default;

std::unique_ptr<CurlTransport::Handle> CurlTransport::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Handle> handle = std::move(idle_.back());
      idle_.pop_back();
      return handle;
    }
  }
  return std::make_unique<Handle>(options_);
}

void CurlTransport::give_back(std::unique_ptr<Handle> handle) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleHandlesMax) idle_.push_back(std::move(handle));
}

std::expected<HttpResponse, TransportError> CurlTransport::post(std::string_view target,
                                                                std::string_view body,
                                                                const CallLimits* limits) {
  std::unique_ptr<Handle> handle = take();
  auto response = handle->post(target, body, limits);
  // A handle is not reused after an error.
  if (response) give_back(std::move(handle));
  return response;
}

std::expected<HttpResponse, TransportError> CurlTransport::exchange(std::string_view path,
                                                                    const std::string* body) {
  return Handle(options_).exchange(path, body);
}

}  // namespace stator
