// SPDX-License-Identifier: Apache-2.0
#include "cli/aws_settings.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "base/profile_file.h"

namespace stator::cli {
namespace {

using Settings = std::map<std::string, std::string, std::less<>>;
using Sections = std::map<std::string, Settings, std::less<>>;

std::string value_in(const Settings& settings, std::string_view name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

// The sections of one file; none if it does not exist.
Result<Sections> read_sections(const std::filesystem::path& file) {
  Sections sections;
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) return sections;
  STATOR_ASSIGN_OR_RETURN(const std::string text, read_profile_file(file));
  auto parsed = parse_profiles(text);
  if (!parsed) {
    return fail(parsed.error().code, "'" + file.string() + "': " + parsed.error().message);
  }
  for (ProfileSection& section : *parsed) {
    Settings& settings = sections[section.name];
    for (ProfileSetting& setting : section.settings) {
      settings.insert_or_assign(std::move(setting.name), std::move(setting.value));
    }
  }
  return sections;
}

std::filesystem::path file_of(const Environment& environment, const char* variable,
                              const char* name) {
  const std::string given = environment(variable);
  if (!given.empty()) return given;
  return std::filesystem::path(environment("HOME")) / ".aws" / name;
}

struct Profile {
  std::string name;
  Settings config;
  Settings keys;      // of the credentials file
  Settings services;  // of the section that `services` names
};

Result<Profile> read_profile(const Environment& environment) {
  STATOR_ASSIGN_OR_RETURN(Sections config,
                          read_sections(file_of(environment, "AWS_CONFIG_FILE", "config")));
  STATOR_ASSIGN_OR_RETURN(
      Sections keys,
      read_sections(file_of(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials")));
  const std::string chosen = environment("AWS_PROFILE");
  Profile profile{.name = chosen.empty() ? "default" : chosen};
  const bool is_default = profile.name == "default";
  const std::string section = is_default ? "default" : "profile " + profile.name;
  if (!chosen.empty() && !config.contains(section) && !keys.contains(profile.name)) {
    return fail(Code::kInvalidArgument, "could not find the AWS profile '" + profile.name + "'");
  }
  profile.config = std::move(config[section]);
  profile.keys = std::move(keys[profile.name]);
  const std::string services = value_in(profile.config, "services");
  if (!services.empty()) profile.services = std::move(config["services " + services]);
  return profile;
}

std::string endpoint_of(const Environment& environment, const Profile& profile) {
  if (environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") == "true") return "";
  for (const char* variable : {"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"}) {
    if (std::string url = environment(variable); !url.empty()) return url;
  }
  if (value_in(profile.config, "ignore_configured_endpoint_urls") == "true") return "";
  if (std::string url = value_in(profile.services, "dynamodb.endpoint_url"); !url.empty()) {
    return url;
  }
  return value_in(profile.config, "endpoint_url");
}

std::string region_of(const Environment& environment, const Profile& profile) {
  for (const char* variable : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (std::string region = environment(variable); !region.empty()) return region;
  }
  return value_in(profile.config, "region");
}

std::string ca_bundle_of(const Environment& environment, const Profile& profile) {
  std::string file = environment("AWS_CA_BUNDLE");
  return file.empty() ? value_in(profile.config, "ca_bundle") : file;
}

Credentials keys_in(const Settings& settings) {
  return {.access_key_id = value_in(settings, "aws_access_key_id"),
          .secret_access_key = value_in(settings, "aws_secret_access_key"),
          .session_token = value_in(settings, "aws_session_token")};
}

bool is_whole(const Credentials& credentials) {
  return !credentials.access_key_id.empty() && !credentials.secret_access_key.empty();
}

Credentials credentials_of(const Environment& environment, const Profile& profile) {
  const std::array candidates = {
      Credentials{.access_key_id = environment("AWS_ACCESS_KEY_ID"),
                  .secret_access_key = environment("AWS_SECRET_ACCESS_KEY"),
                  .session_token = environment("AWS_SESSION_TOKEN")},
      keys_in(profile.keys), keys_in(profile.config)};
  const auto* found = std::ranges::find_if(candidates, is_whole);
  return found == candidates.end() ? Credentials{} : *found;
}

std::string problem_of(const Profile& profile) {
  for (const char* source :
       {"role_arn", "credential_process", "sso_session", "sso_start_url", "login_session"}) {
    if (!value_in(profile.config, source).empty()) {
      return "the AWS profile '" + profile.name + "' uses '" + source +
             "', which is not supported; run: eval \"$(aws configure export-credentials "
             "--profile " +
             profile.name + " --format env)\"";
    }
  }
  return "";
}

}  // namespace

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Environment with_profile(Environment environment, std::string profile) {
  return [environment = std::move(environment),
          profile = std::move(profile)](const char* name) -> std::string {
    constexpr std::array<std::string_view, 5> kReplaced = {
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
        "AWS_DEFAULT_REGION"};
    if (std::string_view(name) == "AWS_PROFILE") return profile;
    return std::ranges::find(kReplaced, name) == kReplaced.end() ? environment(name) : "";
  };
}

Result<AwsSettings> read_aws_settings(const Environment& environment) {
  STATOR_ASSIGN_OR_RETURN(const Profile profile, read_profile(environment));
  AwsSettings settings{.endpoint = endpoint_of(environment, profile),
                       .region = region_of(environment, profile),
                       .ca_bundle = ca_bundle_of(environment, profile),
                       .credentials = credentials_of(environment, profile)};
  if (!is_whole(settings.credentials)) settings.credentials_problem = problem_of(profile);
  return settings;
}

}  // namespace stator::cli
