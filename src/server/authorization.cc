// SPDX-License-Identifier: Apache-2.0
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html
#include "server/authorization.h"

#include <array>
#include <string>
#include <string_view>

namespace stator::server {
namespace {

std::string_view query_of(std::string_view target) {
  const auto mark = target.find('?');
  return mark == target.npos ? std::string_view() : target.substr(mark + 1);
}

// Whether `name=` with a value is among fields divided by one of `dividers`.
bool has_field(std::string_view fields, std::string_view dividers, std::string_view name) {
  while (!fields.empty()) {
    const auto field = fields.substr(0, fields.find_first_of(dividers));
    if (field.size() > name.size() + 1 && field.starts_with(name) && field[name.size()] == '=') {
      return true;
    }
    fields.remove_prefix(std::min(fields.size(), field.size() + 1));
  }
  return false;
}

Result<void> check_header(const http::Request& request, std::string_view authorization) {
  if (!authorization.starts_with("AWS4-")) {
    return fail(Code::kMissingAuthenticationToken, "Request is missing Authentication Token");
  }
  std::string missing;
  for (const std::string_view part : {"Credential", "Signature", "SignedHeaders"}) {
    if (!has_field(authorization, ", ", part)) {
      missing += "Authorization header requires '" + std::string(part) + "' parameter. ";
    }
  }
  if (request.header("x-amz-date").empty() && request.header("date").empty()) {
    missing +=
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  }
  if (missing.empty()) return {};
  return fail(Code::kIncompleteSignature, missing + "Authorization=" + std::string(authorization));
}

Result<void> check_query(std::string_view query) {
  constexpr std::array<std::string_view, 5> kParts = {"X-Amz-Algorithm", "X-Amz-Credential",
                                                      "X-Amz-Signature", "X-Amz-SignedHeaders",
                                                      "X-Amz-Date"};
  std::string missing;
  for (const std::string_view part : kParts) {
    if (!has_field(query, "&", part)) {
      missing += "AWS query-string parameters must include '" + std::string(part) + "'. ";
    }
  }
  if (missing.empty()) return {};
  return fail(Code::kIncompleteSignature, missing + "Re-examine the query-string parameters.");
}

}  // namespace

Result<void> check_authorization(const http::Request& request) {
  const auto authorization = request.header("authorization");
  const auto query = query_of(request.target);
  const bool signed_query = query.find("X-Amz-Algorithm") != query.npos;
  if (signed_query && !authorization.empty()) {
    return fail(Code::kInvalidSignature,
                "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP "
                "header.");
  }
  return signed_query ? check_query(query) : check_header(request, authorization);
}

}  // namespace stator::server
