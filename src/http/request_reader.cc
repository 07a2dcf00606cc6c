// SPDX-License-Identifier: Apache-2.0
// The buffer holds [begin, end): the request being read and the bytes pipelined after it. Beast
// parses the headers. Their positions are stored as offsets from `begin`, because the buffer can
// move while the body arrives. They become views once the request is complete.
#include "http/request_reader.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <optional>
#include <string>

#include "http/message.h"

namespace stator::http {
namespace beast_http = boost::beast::http;
namespace {

constexpr std::size_t kBufferBytes = 4096;      // at first, and again after a large request
constexpr std::size_t kIdleBytesMax = 8 << 10;  // kept between requests
constexpr std::size_t kHeadersMax = 256;
constexpr std::size_t kHeadersKeptMax = 32;
constexpr std::size_t kEmptyLineBytesMax = 8;        // before a request
constexpr std::size_t kScreenedBytesMin = 64 << 10;  // missing bytes of a body
constexpr std::size_t kReceiveBytesMin = 1024;       // free space worth a receive
constexpr std::size_t kChunkHeadBytesMax = 8 << 10;
// "0\r\n\r\n", the shortest end of a chunked body. Beast parses the last chunk as a whole, and
// asserts that at least this many of its bytes were received.
constexpr std::size_t kLastChunkBytesMin = 5;

struct Slice {
  std::size_t offset = 0;
  std::size_t size = 0;
};
struct HeaderSlices {
  Slice name;
  Slice value;
};

// The state that the parser's callbacks fill in.
struct Head {
  const char* base = nullptr;  // of the buffer, while the parser runs
  const char* limit = nullptr;
  Slice method;
  Slice target;
  std::vector<HeaderSlices> headers;
  std::string body;  // of chunks only
  int version = 11;
  bool done = false;
  bool expects_continue = false;
  bool transfer_encoding = false;
  bool host = false;
  bool screened = false;

  void clear() {
    headers.clear();
    body.clear();
    done = expects_continue = transfer_encoding = host = screened = false;
    version = 11;
  }
};

}  // namespace

class RequestReader::Parser final : public beast_http::basic_parser<true> {
 public:
  using Error = boost::beast::error_code;
  using Text = boost::beast::string_view;

  explicit Parser(Head& head) : head_(head) {}

 private:
  // False for text outside the buffer: a header that the parser joined from several lines. RFC 9112
  // lets a server reject it.
  bool slice(Text text, Slice& out) const {
    if (text.empty()) {
      out = {};
      return true;
    }
    if (text.data() < head_.base || text.data() + text.size() > head_.limit) return false;
    out = {static_cast<std::size_t>(text.data() - head_.base), text.size()};
    return true;
  }

  void on_request_impl(beast_http::verb, Text method, Text target, int version,
                       Error& error) override {
    head_.version = version;
    if (!slice(method, head_.method) || !slice(target, head_.target)) {
      error = beast_http::error::bad_target;
    }
  }

  void on_field_impl(beast_http::field field, Text name, Text value, Error& error) override {
    if (head_.done) return;  // a trailer
    HeaderSlices slices;
    if (!slice(name, slices.name) || !slice(value, slices.value)) {
      error = beast_http::error::bad_obs_fold;
      return;
    }
    if (head_.headers.size() == kHeadersMax) {
      error = beast_http::error::header_limit;
      return;
    }
    head_.headers.push_back(slices);
    if (field == beast_http::field::host) {
      // With two, another recipient of the same bytes could use the other one (RFC 9112, 3.2).
      if (head_.host) error = beast_http::error::bad_field;
      head_.host = true;
    }
    if (field == beast_http::field::expect) {
      head_.expects_continue = equals_ignoring_case({value.data(), value.size()}, "100-continue");
    }
    if (field == beast_http::field::transfer_encoding) {
      // Beast accepts "gzip, chunked" as chunked, but the body would still be compressed.
      if (head_.transfer_encoding ||
          !equals_ignoring_case({value.data(), value.size()}, "chunked")) {
        error = beast_http::error::bad_transfer_encoding;
        return;
      }
      head_.transfer_encoding = true;
    }
  }

  void on_header_impl(Error& error) override {
    // With an unknown encoding, the end of the body is unknown.
    if (head_.transfer_encoding && !chunked()) error = beast_http::error::bad_transfer_encoding;
    head_.done = true;
  }

  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override {
    head_.body.append(body.data(), body.size());
    return body.size();
  }

  std::size_t on_body_impl(Text body, Error&) override { return body.size(); }
  void on_response_impl(int, Text, int, Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
  void on_finish_impl(Error&) override {}

  Head& head_;
};

struct RequestReader::Impl {
  std::size_t header_bytes_max;
  std::size_t body_bytes_max;
  std::unique_ptr<char[]> data = {};
  std::size_t capacity = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t empty_line_bytes = 0;  // before the request
  std::size_t parsed = 0;            // bytes of [begin, end) that the parser has taken
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;  // of a body that is not chunked
  Head head = {};
  std::optional<Parser> parser = {};
  Request request = {};

  std::size_t held() const { return end - begin; }

  Outcome parse();
  Outcome parse_head();
  Outcome parse_chunks();
  Outcome whole();
  void view_head();
  std::size_t missing() const {
    const std::size_t known = head.done ? head_bytes + body_bytes : 0;
    return known > held() ? known - held() : 0;
  }
  boost::system::error_code put();
  Outcome outcome_of(const boost::system::error_code& error) const;
  std::string_view view(const Slice& slice) const {
    return {data.get() + begin + slice.offset, slice.size};
  }
  void reserve(std::size_t bytes);
  void next();
};

// Passes the remaining bytes to the parser.
boost::system::error_code RequestReader::Impl::put() {
  boost::system::error_code error;
  head.base = data.get() + begin;
  head.limit = data.get() + end;
  parsed += parser->put(boost::asio::const_buffer(head.base + parsed, held() - parsed), error);
  return error;
}

RequestReader::Outcome RequestReader::Impl::outcome_of(
    const boost::system::error_code& error) const {
  if (error == beast_http::error::need_more) return Outcome::kNeedMore;
  if (error == beast_http::error::body_limit) return Outcome::kTooLarge;
  return Outcome::kMalformed;
}

RequestReader::Outcome RequestReader::Impl::parse_head() {
  if (parsed == 0) {  // empty lines before a request are ignored (RFC 9112, 2.2)
    for (; begin < end && (data[begin] == '\r' || data[begin] == '\n'); ++begin) {
      if (++empty_line_bytes > kEmptyLineBytesMax) return Outcome::kMalformed;
    }
  }
  if (!parser) {
    parser.emplace(head);
    parser->header_limit(static_cast<std::uint32_t>(header_bytes_max));
    parser->body_limit(body_bytes_max);
  }
  if (held() == parsed) return Outcome::kNeedMore;
  const auto error = put();
  if (parsed > header_bytes_max) return Outcome::kMalformed;
  if (error) {
    const Outcome outcome = outcome_of(error);
    const bool over = outcome == Outcome::kNeedMore && held() > header_bytes_max;
    return over ? Outcome::kMalformed : outcome;
  }
  if (!head.done) return Outcome::kNeedMore;
  head_bytes = parsed;
  body_bytes = static_cast<std::size_t>(parser->content_length().value_or(0));
  return Outcome::kRequest;
}

// Chunks are copied to head.body as they arrive. The unparsed rest moves down to the end of the
// headers, so that the buffer holds at most one receive of chunks.
RequestReader::Outcome RequestReader::Impl::parse_chunks() {
  while (!parser->is_done()) {
    if (held() - parsed < kLastChunkBytesMin) break;
    const auto error = put();
    if (error == beast_http::error::need_more) break;
    if (error) return outcome_of(error);
  }
  if (parser->is_done()) return Outcome::kRequest;
  const std::size_t rest = held() - parsed;
  std::memmove(data.get() + begin + head_bytes, data.get() + begin + parsed, rest);
  end -= parsed - head_bytes;
  parsed = head_bytes;
  return rest > kChunkHeadBytesMax ? Outcome::kMalformed : Outcome::kNeedMore;
}

RequestReader::Outcome RequestReader::Impl::parse() {
  if (!head.done) {
    const Outcome outcome = parse_head();
    if (outcome != Outcome::kRequest) return outcome;
  }
  if (parser->chunked()) {
    const Outcome outcome = parse_chunks();
    if (outcome != Outcome::kRequest) return outcome;
    return whole();
  }
  if (held() < head_bytes + body_bytes) return Outcome::kNeedMore;
  parsed = head_bytes + body_bytes;
  return whole();
}

void RequestReader::Impl::view_head() {
  request.method = view(head.method);
  request.target = view(head.target);
  request.headers.clear();
  for (const HeaderSlices& header : head.headers) {
    request.headers.emplace_back(view(header.name), view(header.value));
  }
  request.body = {};
}

RequestReader::Outcome RequestReader::Impl::whole() {
  view_head();
  request.body = parser->chunked() ? std::string_view(head.body) : view({head_bytes, body_bytes});
  return Outcome::kRequest;
}

void RequestReader::Impl::reserve(std::size_t bytes) {
  auto larger = std::make_unique_for_overwrite<char[]>(bytes);
  if (held() > 0) std::memcpy(larger.get(), data.get() + begin, held());
  data = std::move(larger);
  capacity = bytes;
  end = held();
  begin = 0;
}

void RequestReader::Impl::next() {
  begin += parsed;
  parsed = head_bytes = body_bytes = empty_line_bytes = 0;
  parser.reset();
  head.clear();
  if (head.body.capacity() > kIdleBytesMax) head.body.shrink_to_fit();
  if (head.headers.capacity() > kHeadersKeptMax) {
    request.headers.clear();
    request.headers.shrink_to_fit();
    head.headers.shrink_to_fit();
  }
  if (begin != end) return;
  begin = end = 0;
  if (capacity > kIdleBytesMax) {
    data.reset();
    capacity = 0;
  }
}

RequestReader::RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max)
    : impl_(std::make_unique<Impl>(
          Impl{.header_bytes_max = header_bytes_max, .body_bytes_max = body_bytes_max})) {}

RequestReader::~RequestReader() = default;

std::span<char> RequestReader::prepare() {
  Impl& r = *impl_;
  // Makes space for the missing bytes, but at most doubles the buffer.
  const std::size_t missing = r.missing();
  const std::size_t wanted = std::max(kReceiveBytesMin, missing);
  if (r.capacity - r.end < wanted && r.begin > 0) {
    std::memmove(r.data.get(), r.data.get() + r.begin, r.held());
    r.end = r.held();
    r.begin = 0;
  }
  if (r.capacity - r.end < wanted) {
    const std::size_t doubled = std::max(2 * r.capacity, kBufferBytes);
    r.reserve(missing > 0 ? std::min(doubled, r.held() + missing) : doubled);
  }
  return {r.data.get() + r.end, r.capacity - r.end};
}

void RequestReader::commit(std::size_t count) {
  impl_->end += count;
}

RequestReader::Outcome RequestReader::parse() {
  return impl_->parse();
}

const Request& RequestReader::request() const {
  return impl_->request;
}

void RequestReader::note(std::string_view peer, std::chrono::steady_clock::time_point arrival) {
  impl_->request.peer = peer;
  impl_->request.arrival = arrival;
}

bool RequestReader::keep_alive() const {
  return impl_->parser && impl_->parser->keep_alive();
}

bool RequestReader::is_http_1_0() const {
  return impl_->head.version == 10;
}

const Request* RequestReader::take_unfinished_head() {
  Impl& r = *impl_;
  const bool large = r.head.done && (r.parser->chunked() || r.missing() > kScreenedBytesMin);
  if (!large || r.head.screened) return nullptr;
  r.head.screened = true;
  r.view_head();
  return &r.request;
}

std::size_t RequestReader::missing_bytes() const {
  return impl_->missing();
}

void RequestReader::reserve_missing() {
  impl_->reserve(impl_->held() + impl_->missing());
}

bool RequestReader::take_continue_wish() {
  Impl& r = *impl_;
  const bool waits =
      r.head.done && r.head.expects_continue && r.held() == r.head_bytes && !is_http_1_0();
  r.head.expects_continue = r.head.expects_continue && !r.head.done;
  return waits;
}

std::size_t RequestReader::held_bytes() const {
  return impl_->capacity + impl_->head.body.capacity() +
         impl_->head.headers.capacity() * sizeof(HeaderSlices) +
         impl_->request.headers.capacity() * sizeof(Header);
}

void RequestReader::clear() {
  impl_ = std::make_unique<Impl>(
      Impl{.header_bytes_max = impl_->header_bytes_max, .body_bytes_max = impl_->body_bytes_max});
}

bool RequestReader::empty() const {
  return impl_->held() == 0;
}

void RequestReader::next() {
  impl_->next();
}

}  // namespace stator::http
