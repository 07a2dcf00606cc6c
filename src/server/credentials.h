// SPDX-License-Identifier: Apache-2.0
// Credentials: the access keys that may use a server, from a file in the form of AWS's shared
// credentials file: profiles with aws_access_key_id and aws_secret_access_key.
//
// A profile can also have a `policy`, a file relative to that one, and limits:
// `requests_per_second` and `concurrent_requests`. Its name is the user's name.
// https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "server/key_limiter.h"
#include "stator/result.h"

namespace stator::server {

struct AccessKey {
  std::string secret;
  std::string username = {};
  std::string policy_file = {};  // as in the profile; empty: all rights
  KeyLimits limits = {};
  std::shared_ptr<const policy::Policy> policy = {};  // null: all rights
  std::shared_ptr<KeyLimiter> limiter = {};           // null: no limits
};

// The access keys by id.
using Credentials = std::map<std::string, AccessKey, std::less<>>;

// Reads the keys without their policies. Errors: kInvalidArgument with the line if the text is
// malformed, has no key, a repeated key or an unknown setting.
Result<Credentials> parse_credentials(std::string_view text);
// Errors: also kIo, and kInvalidArgument for policies. Messages name the file, which has at most
// kProfileFileBytesMax bytes.
Result<Credentials> read_credentials(const std::filesystem::path& file);
// The file, and the policy files in it.
std::vector<std::filesystem::path> files_of_credentials(const std::filesystem::path& file);

}  // namespace stator::server
