// SPDX-License-Identifier: Apache-2.0
#include "server/credentials.h"

#include <fmt/format.h>

#include <utility>

#include "base/profile_file.h"

namespace stator::server {
namespace {

Failure bad_line(int line, std::string_view problem) {
  return fail(Code::kInvalidArgument, fmt::format("line {}: {}", line, problem));
}

Result<void> add_key(const ProfileSection& profile, Credentials& all) {
  std::string id;
  std::string secret;
  for (const auto& [line, name, value] : profile.settings) {
    if (name == "aws_session_token") {
      return bad_line(line, "'aws_session_token' is not supported; use a key without one");
    }
    if (name == "aws_access_key_id") id = value;
    if (name == "aws_secret_access_key") secret = value;
  }
  if (id.empty() || secret.empty()) {
    return bad_line(profile.line, "a profile needs aws_access_key_id and aws_secret_access_key");
  }
  if (!all.emplace(std::move(id), std::move(secret)).second) {
    return bad_line(profile.line, "its access key is repeated");
  }
  return {};
}

}  // namespace

Result<Credentials> parse_credentials(std::string_view text) {
  STATOR_TRY(const std::vector<ProfileSection> profiles, parse_profiles(text));
  Credentials all;
  for (const ProfileSection& profile : profiles) STATOR_CHECK_OK(add_key(profile, all));
  if (all.empty()) return fail(Code::kInvalidArgument, "it has no profile");
  return all;
}

Result<Credentials> read_credentials(const std::filesystem::path& file) {
  STATOR_TRY(const std::string text, read_profile_file(file));
  auto parsed = parse_credentials(text);
  if (parsed) return parsed;
  return fail(parsed.error().code, fmt::format("invalid credentials file '{}': {}", file.string(),
                                               parsed.error().message));
}

}  // namespace stator::server
