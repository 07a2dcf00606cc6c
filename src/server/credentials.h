// SPDX-License-Identifier: Apache-2.0
// Credentials: the access keys that may use a server, from a file in the form of AWS's shared
// credentials file: profiles with aws_access_key_id and aws_secret_access_key.
// https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "stator/result.h"

namespace stator::server {

// Secrets by access key id.
using Credentials = std::map<std::string, std::string, std::less<>>;

inline constexpr std::size_t kCredentialsFileBytesMax = 1UL << 20;

// kInvalidArgument with the line for text of another form, without a key, or with one key twice.
Result<Credentials> parse_credentials(std::string_view text);
// Also kIo where the file cannot be read. Messages name the file.
Result<Credentials> read_credentials(const std::filesystem::path& file);

}  // namespace stator::server
