// SPDX-License-Identifier: Apache-2.0
// Any bytes as the data of a connection. The same requests must be read, within the limits, no
// matter how the bytes are split into receives. Each request is written again, as a whole or in
// chunks, and must read back the same.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/message.h"
#include "http/request_reader.h"

namespace {

using stator::http::RequestReader;
using Outcome = RequestReader::Outcome;

constexpr std::size_t kHeaderBytesMax = 512;
constexpr std::size_t kBodyBytesMax = 1024;
constexpr std::size_t kAtOnce = 1 << 20;

struct ReadRequest {
  std::string method;
  std::string target;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool keep_alive = false;
  bool http_1_0 = false;
  bool operator==(const ReadRequest&) const = default;
};

ReadRequest copy_of(const RequestReader& reader) {
  const stator::http::Request& request = reader.request();
  ReadRequest copy{.method = std::string(request.method),
                   .target = std::string(request.target),
                   .body = std::string(request.body),
                   .keep_alive = reader.keep_alive(),
                   .http_1_0 = reader.is_http_1_0()};
  for (const auto& [name, value] : request.headers) copy.headers.emplace_back(name, value);
  return copy;
}

// `next_size` returns the size of the next receive, at least one byte. How and when invalid bytes
// are rejected can depend on it, but valid requests must not.
template <class NextSize>
std::vector<ReadRequest> read(std::string_view stream, NextSize next_size) {
  RequestReader reader(kHeaderBytesMax, kBodyBytesMax);
  std::vector<ReadRequest> requests;
  Outcome outcome = Outcome::kNeedMore;
  while (!stream.empty() && outcome == Outcome::kNeedMore) {
    const auto room = reader.prepare();
    STATOR_CHECK(!room.empty());
    STATOR_CHECK(room.size() <= (64UL << 10));
    const std::size_t count = std::min({next_size(), room.size(), stream.size()});
    std::memcpy(room.data(), stream.data(), count);
    stream.remove_prefix(count);
    reader.commit(count);
    while ((outcome = reader.parse()) == Outcome::kRequest) {
      requests.push_back(copy_of(reader));
      STATOR_CHECK(requests.back().body.size() <= kBodyBytesMax);
      reader.next();
    }
    (void)reader.take_continue_wish();
  }
  return requests;
}

bool frames(std::string_view name) {
  using stator::http::equals_ignoring_case;
  return equals_ignoring_case(name, "content-length") ||
         equals_ignoring_case(name, "transfer-encoding") ||
         equals_ignoring_case(name, "connection");
}

// One digit is enough for the size of a chunk.
std::string chunks_of(std::string_view body) {
  std::string text;
  for (; !body.empty(); body.remove_prefix(std::min<std::size_t>(9, body.size()))) {
    const std::string_view chunk = body.substr(0, 9);
    text.append(std::to_string(chunk.size())).append("\r\n").append(chunk).append("\r\n");
  }
  return text + "0\r\n\r\n";
}

// Reads the request twice in a row, so that leftovers of the first one would affect the second.
void check_written(ReadRequest request, bool chunked) {
  std::erase_if(request.headers, [](const auto& header) { return frames(header.first); });
  if (chunked) {
    request.headers.emplace_back("Transfer-Encoding", "chunked");
  } else {
    request.headers.emplace_back("Content-Length", std::to_string(request.body.size()));
  }
  request.headers.emplace_back("Connection", request.keep_alive ? "keep-alive" : "close");
  std::string text = request.method + " " + request.target;
  text += request.http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
  for (const auto& [name, value] : request.headers) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
  text += "\r\n";
  if (text.size() > kHeaderBytesMax) return;
  text += chunked ? chunks_of(request.body) : request.body;
  const auto requests = read(text + text, [] { return kAtOnce; });
  STATOR_CHECK(requests.size() == 2);
  STATOR_CHECK(requests[0] == request);
  STATOR_CHECK(requests[1] == request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  std::vector<std::size_t> cuts;  // from the end of the data
  for (auto count = data.ConsumeIntegralInRange(0, 8); count > 0; --count) {
    cuts.push_back(data.ConsumeIntegralInRange<std::size_t>(1, 300));
  }
  const std::string stream = data.ConsumeRemainingBytesAsString();
  const auto whole = read(stream, [] { return kAtOnce; });
  STATOR_CHECK(read(stream, [] { return std::size_t{1}; }) == whole);
  auto cut = cuts.begin();
  const auto next_cut = [&] { return cut == cuts.end() ? kAtOnce : *cut++; };
  STATOR_CHECK(read(stream, next_cut) == whole);
  for (const ReadRequest& request : whole) {
    check_written(request, false);
    check_written(request, true);
  }
  return 0;
}
