// SPDX-License-Identifier: Apache-2.0
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html
#include "server/authorization.h"

#include <array>
#include <bitset>
#include <string>
#include <string_view>

namespace stator::server {
namespace {

std::string_view query_of(std::string_view target) {
  const auto mark = target.find('?');
  return mark == target.npos ? std::string_view() : target.substr(mark + 1);
}

// Whether a field is `name=value`. Either of two characters separates the fields.
bool has_field(std::string_view fields, char divider, char other, std::string_view name) {
  const auto divides = [&](char c) { return c == divider || c == other; };
  for (std::size_t at = fields.find(name); at != fields.npos; at = fields.find(name, at + 1)) {
    const std::size_t value = at + name.size() + 1;
    if (value >= fields.size()) return false;
    const bool begins = at == 0 || divides(fields[at - 1]);
    if (begins && fields[value - 1] == '=' && !divides(fields[value])) return true;
  }
  return false;
}

// The `names` without a `name=value` field.
template <std::size_t count>
std::bitset<count> missing_fields(std::string_view fields, char divider, char other,
                                  const std::array<std::string_view, count>& names) {
  std::bitset<count> missing;
  for (std::size_t i = 0; i < count; ++i) missing[i] = !has_field(fields, divider, other, names[i]);
  return missing;
}

Result<void> check_header(const http::Request& request, std::string_view authorization) {
  if (!authorization.starts_with("AWS4-")) {
    return fail(Code::kMissingAuthenticationToken, "Request is missing Authentication Token");
  }
  constexpr std::array<std::string_view, 3> kParts = {"Credential", "Signature", "SignedHeaders"};
  const auto missing = missing_fields(authorization, ',', ' ', kParts);
  const bool dated = !request.header("x-amz-date").empty() || !request.header("date").empty();
  if (missing.none() && dated) return {};
  std::string text;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (missing[i]) {
      text += "Authorization header requires '" + std::string(kParts[i]) + "' parameter. ";
    }
  }
  if (!dated) {
    text += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  }
  return fail(Code::kIncompleteSignature, text + "Authorization=" + std::string(authorization));
}

Result<void> check_query(std::string_view query) {
  constexpr std::array<std::string_view, 5> kParts = {"X-Amz-Algorithm", "X-Amz-Credential",
                                                      "X-Amz-Signature", "X-Amz-SignedHeaders",
                                                      "X-Amz-Date"};
  const auto missing = missing_fields(query, '&', '&', kParts);
  if (missing.none()) return {};
  std::string text;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (missing[i]) {
      text += "AWS query-string parameters must include '" + std::string(kParts[i]) + "'. ";
    }
  }
  return fail(Code::kIncompleteSignature, text + "Re-examine the query-string parameters.");
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
