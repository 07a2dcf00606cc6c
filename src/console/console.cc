// SPDX-License-Identifier: Apache-2.0
#include "console/console.h"

#include <libdeflate.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "console/embedded_files.h"

namespace stator::console {
namespace {

constexpr std::string_view kRoot = "/console";
constexpr std::string_view kIndex = "index.html";
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view path_of(std::string_view target) {
  return target.substr(0, target.find('?'));
}

std::string_view content_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

http::Response response_with(int status, std::string_view type, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", type},
                      {"Content-Security-Policy", kPolicy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"},
                      {"Cache-Control", "no-cache"}},
          .body = std::move(body)};
}

http::Response text_response(int status, std::string_view text) {
  return response_with(status, "text/plain; charset=utf-8", std::string(text));
}

// Whether a comma-separated header lists a value. Parameters other than `q=0` do not matter.
bool lists(std::string_view header, std::string_view value) {
  while (!header.empty()) {
    const std::size_t comma = std::min(header.find(','), header.size());
    std::string_view part = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    const bool refused = part.ends_with(";q=0") || part.ends_with("; q=0");
    part = part.substr(0, part.find(';'));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (part == value) return !refused;
  }
  return false;
}

std::optional<std::string> decompressed(const EmbeddedFile& file) {
  struct Free {
    void operator()(libdeflate_decompressor* p) const { libdeflate_free_decompressor(p); }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> decompressor(
      libdeflate_alloc_decompressor());
  std::string content(file.size_bytes, '\0');
  if (!decompressor ||
      libdeflate_gzip_decompress(decompressor.get(), file.gzipped.data(), file.gzipped.size(),
                                 content.data(), content.size(), nullptr) != LIBDEFLATE_SUCCESS) {
    return std::nullopt;
  }
  return content;
}

http::Response from_directory(const std::filesystem::path& directory, std::string_view name) {
  std::ifstream in(directory / name, std::ios::binary);
  if (!in) return text_response(404, "not found\n");
  std::string content{std::istreambuf_iterator<char>(in), {}};
  return response_with(200, content_type(name), std::move(content));
}

http::Response from_binary(const EmbeddedFile& file, const http::Request& request) {
  // Weak, because it is the same for the content with and without compression.
  const std::string tag = "W/\"" + std::string(file.hash) + "\"";
  const std::string_view known = request.header("if-none-match");
  if (known == "*" || lists(known, tag)) {
    http::Response unchanged = response_with(304, content_type(file.name), "");
    unchanged.headers.add("ETag", tag);
    return unchanged;
  }
  http::Response response = response_with(200, content_type(file.name), "");
  response.headers.add("ETag", tag);
  response.headers.add("Vary", "Accept-Encoding");
  if (lists(request.header("accept-encoding"), "gzip")) {
    response.headers.add("Content-Encoding", "gzip");
    response.body.assign(file.gzipped.begin(), file.gzipped.end());
    return response;
  }
  auto content = decompressed(file);
  if (!content) return text_response(503, "out of memory\n");
  response.body = std::move(*content);
  return response;
}

}  // namespace

bool Console::serves(std::string_view target) {
  const std::string_view path = path_of(target);
  return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
}

http::Response Console::respond(const http::Request& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response refusal = text_response(405, "method not allowed\n");
    refusal.headers.add("Allow", "GET, HEAD");
    return refusal;
  }
  std::string_view name = path_of(request.target).substr(kRoot.size());
  if (name.empty()) {
    http::Response redirect = text_response(308, "");
    redirect.headers.add("Location", "/console/");
    return redirect;
  }
  name.remove_prefix(1);
  if (name.empty()) name = kIndex;
  const auto files = embedded_files();
  const auto file = std::ranges::find(files, name, &EmbeddedFile::name);
  if (file == files.end()) return text_response(404, "not found\n");
  return directory_.empty() ? from_binary(*file, request) : from_directory(directory_, file->name);
}

}  // namespace stator::console
