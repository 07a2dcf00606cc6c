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

// Errors: kInvalidArgument with the line for text of another form, without a key, or with a
// repeated key.
Result<Credentials> parse_credentials(std::string_view text);
// Errors: also kIo. Messages name the file, which has at most kProfileFileBytesMax bytes.
Result<Credentials> read_credentials(const std::filesystem::path& file);

}  // namespace stator::server
