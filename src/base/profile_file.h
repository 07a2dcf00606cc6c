// SPDX-License-Identifier: Apache-2.0
// The form of AWS's shared config and credentials files: [sections] of `name = value` lines.
//
// A line that is indented below a setting without a value belongs to it, as in
//
//   dynamodb =
//     endpoint_url = http://127.0.0.1:8000
//
// and is named "dynamodb.endpoint_url". Lines that begin with # or ; are comments.
// https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stator/result.h"

namespace stator {

struct ProfileSetting {
  int line = 0;
  std::string name;
  std::string value;
};

struct ProfileSection {
  int line = 0;
  std::string name;  // "default", "profile work", "services local"
  std::vector<ProfileSetting> settings;
};

inline constexpr std::size_t kProfileFileBytesMax = 1UL << 20;

// Errors: kInvalidArgument with the line number.
Result<std::vector<ProfileSection>> parse_profiles(std::string_view text);

// The text of a file of at most kProfileFileBytesMax bytes.
// Errors: kIo, kInvalidArgument if it is larger. Messages name the file.
Result<std::string> read_profile_file(const std::filesystem::path& file);

}  // namespace stator
