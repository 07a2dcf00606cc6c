// SPDX-License-Identifier: Apache-2.0
#include "server/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/profile_file.h"

namespace stator::server {
namespace {

// Client settings, which a server ignores.
constexpr std::string_view kOfClients[] = {"region", "output", "endpoint_url", "services"};
constexpr std::string_view kPolicySetting = "policy";

Failure bad_line(int line, std::string_view problem) {
  return fail(Code::kInvalidArgument, fmt::format("line {}: {}", line, problem));
}

Result<void> set_limit(const ProfileSetting& setting, int64_t& limit) {
  constexpr int64_t kLimitMax = 1'000'000'000;
  const char* const end = setting.value.data() + setting.value.size();
  const auto [stop, error] = std::from_chars(setting.value.data(), end, limit);
  if (error == std::errc() && stop == end && limit >= 1 && limit <= kLimitMax) return {};
  return bad_line(setting.line, fmt::format("invalid {} '{}'; expected 1 to {}", setting.name,
                                            setting.value, kLimitMax));
}

// Rejects unknown settings: a misspelled policy or limit would give a key too many rights.
Result<void> apply_setting(const ProfileSetting& setting, std::string& id, AccessKey& key) {
  const auto& [line, name, value] = setting;
  if (name == "aws_session_token") {
    return bad_line(line, "'aws_session_token' is not supported; use a key without one");
  }
  if (name == "requests_per_second") return set_limit(setting, key.limits.requests_per_second);
  if (name == "concurrent_requests") return set_limit(setting, key.limits.concurrent_requests);
  if (name == "aws_access_key_id") {
    id = value;
  } else if (name == "aws_secret_access_key") {
    key.secret = value;
  } else if (name == kPolicySetting) {
    if (value.empty()) return bad_line(line, "'policy' needs a file");
    key.policy_file = value;
  } else if (std::ranges::find(kOfClients, name.substr(0, name.find('.'))) ==
             std::end(kOfClients)) {
    return bad_line(line, fmt::format("unknown setting '{}'", name));
  }
  return {};
}

Result<void> add_key(const ProfileSection& profile, Credentials& all) {
  constexpr std::string_view kProfile = "profile ";
  std::string id;
  AccessKey key;
  for (const ProfileSetting& setting : profile.settings) {
    STATOR_RETURN_IF_ERROR(apply_setting(setting, id, key));
  }
  if (id.empty() || key.secret.empty()) {
    return bad_line(profile.line, "a profile needs aws_access_key_id and aws_secret_access_key");
  }
  key.username =
      profile.name.starts_with(kProfile) ? profile.name.substr(kProfile.size()) : profile.name;
  if (key.limits != KeyLimits()) key.limiter = std::make_shared<KeyLimiter>(key.limits);
  if (!all.emplace(std::move(id), std::move(key)).second) {
    return bad_line(profile.line, "its access key is repeated");
  }
  return {};
}

Result<void> read_policies(const std::filesystem::path& directory, Credentials& all) {
  for (auto& [id, key] : all) {
    if (key.policy_file.empty()) continue;
    const std::filesystem::path file = directory / key.policy_file;
    STATOR_ASSIGN_OR_RETURN(const std::string text, read_profile_file(file));
    auto policy = policy::Policy::parse(text, policy::PolicyKind::kIdentity);
    if (!policy) {
      return fail(Code::kInvalidArgument,
                  fmt::format("invalid policy '{}': {}", file.string(), policy.error().message));
    }
    key.policy = std::make_shared<const policy::Policy>(std::move(*policy));
  }
  return {};
}

}  // namespace

Result<Credentials> parse_credentials(std::string_view text) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<ProfileSection> profiles, parse_profiles(text));
  Credentials all;
  for (const ProfileSection& profile : profiles) STATOR_RETURN_IF_ERROR(add_key(profile, all));
  if (all.empty()) return fail(Code::kInvalidArgument, "no profile");
  return all;
}

Result<Credentials> read_credentials(const std::filesystem::path& file) {
  STATOR_ASSIGN_OR_RETURN(const std::string text, read_profile_file(file));
  auto parsed = parse_credentials(text);
  if (!parsed) {
    return fail(parsed.error().code, fmt::format("invalid credentials file '{}': {}", file.string(),
                                                 parsed.error().message));
  }
  STATOR_RETURN_IF_ERROR(read_policies(file.parent_path(), *parsed));
  return parsed;
}

std::vector<std::filesystem::path> files_of_credentials(const std::filesystem::path& file) {
  std::vector<std::filesystem::path> files{file};
  const auto text = read_profile_file(file);
  const auto profiles = text ? parse_profiles(*text) : Result<std::vector<ProfileSection>>();
  if (!profiles) return files;
  for (const ProfileSection& profile : *profiles) {
    for (const ProfileSetting& setting : profile.settings) {
      if (setting.name == kPolicySetting) files.push_back(file.parent_path() / setting.value);
    }
  }
  return files;
}

}  // namespace stator::server
