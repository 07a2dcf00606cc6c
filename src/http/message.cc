// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "http/server.h"

namespace stator::http {
namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Payload Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

void append_number(std::string& out, std::size_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

}  // namespace

bool equals_ignoring_case(std::string_view text, std::string_view lower_text) {
  return text.size() == lower_text.size() &&
         std::equal(text.begin(), text.end(), lower_text.begin(),
                    [](char a, char b) { return ascii_lower(a) == b; });
}

std::string_view Request::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers) {
    if (equals_ignoring_case(name, lower_name)) return value;
  }
  return {};
}

HeaderLines::HeaderLines(std::initializer_list<Header> headers) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : headers) bytes += name.size() + value.size() + 4;
  text_.reserve(bytes);
  for (const auto& [name, value] : headers) add(name, value);
}

void HeaderLines::add(std::string_view name, std::string_view value) {
  text_.append(name).append(": ").append(value).append("\r\n");
}

void write_head(const Response& response, Persistence persistence, std::string& out) {
  out.clear();
  if (response.status == 200) {
    out.append("HTTP/1.1 200 OK\r\n");
  } else {
    out.append("HTTP/1.1 ");
    append_number(out, static_cast<std::size_t>(std::clamp(response.status, 100, 999)));
    out.append(" ").append(reason_phrase(response.status)).append("\r\n");
  }
  out.append(response.headers.text());
  if (response.status != 204 && response.status != 304) {
    out.append("Content-Length: ");
    append_number(out, response.body.size());
    out.append("\r\n");
  }
  if (persistence == Persistence::kClose) out.append("Connection: close\r\n");
  if (persistence == Persistence::kStatedKeepAlive) out.append("Connection: keep-alive\r\n");
  out.append("\r\n");
}

}  // namespace stator::http
