// SPDX-License-Identifier: Apache-2.0
// libpq's messages quote the host, the port and parameters. An unencoded '@' or '/' in a password
// makes libpq read a part of the password as one of these. Such URLs are rejected first.
#include "storage/postgres/store_url.h"

#include <algorithm>
#include <memory>

#include "storage/postgres/libpq_library.h"

namespace stator {
namespace {

using postgres::libpq;

constexpr std::string_view kSchemes[] = {"postgresql://", "postgres://"};

std::size_t scheme_bytes(std::string_view text) {
  for (const std::string_view scheme : kSchemes) {
    if (text.starts_with(scheme)) return scheme.size();
  }
  return 0;
}

Failure invalid(const char* problem) {
  return fail(Code::kInvalidArgument,
              std::string("invalid URL of a store: ") + problem +
                  "; expected postgresql://USER@HOST:PORT/DATABASE, with %40, %2F, … for special "
                  "characters");
}

bool is_port_list(std::string_view ports) {
  return std::ranges::all_of(ports, [](char c) { return (c >= '0' && c <= '9') || c == ','; });
}

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { libpq().free_options(options); }
};

}  // namespace

bool is_postgres_url(std::string_view text) {
  return scheme_bytes(text) > 0;
}

Result<PostgresUrl> parse_postgres_url(const std::string& text) {
  const std::size_t begin = scheme_bytes(text);
  if (begin == 0) return invalid("it does not begin with postgresql://");
  const std::size_t at = text.rfind('@');
  const bool has_user = at != std::string::npos;
  if (has_user && (text.find('@') != at || text.find('/', begin) < at)) {
    return invalid("a '@' or '/' in the user or the password is not encoded");
  }
  STATOR_RETURN_IF_ERROR(postgres::load_libpq());
  char* complaint = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(
      libpq().parse_options(text.c_str(), &complaint));
  if (complaint != nullptr) libpq().free_memory(complaint);
  if (options == nullptr) return invalid("it is malformed");
  PostgresUrl parsed{.url = text};
  const std::size_t name_begin = has_user ? at + 1 : begin;
  parsed.name =
      text.substr(0, begin) +
      text.substr(name_begin, std::min(text.find('?', name_begin), text.size()) - name_begin);
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string_view keyword = option->keyword;
    if (keyword == "port" && !is_port_list(option->val)) return invalid("the port is not a number");
    if (keyword == "password" || keyword == "sslpassword") {
      parsed.has_password = parsed.has_password || *option->val != '\0';
    }
  }
  return parsed;
}

}  // namespace stator
