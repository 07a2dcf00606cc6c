// SPDX-License-Identifier: Apache-2.0
#include "server/credentials.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace stator::server {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Failure bad_line(int line, std::string_view what) {
  return fail(Code::kInvalidArgument, fmt::format("line {}: {}", line, what));
}

// Collects one profile after another.
class Profiles {
 public:
  Result<void> begin(int line) {
    STATOR_CHECK_OK(end());
    line_ = line;
    return {};
  }
  Result<void> set(int line, std::string_view name, std::string_view value) {
    if (line_ == 0) return bad_line(line, "a setting before the first [profile]");
    if (name == "aws_session_token") {
      return bad_line(line, "'aws_session_token' is not supported; use a key without one");
    }
    if (name == "aws_access_key_id") id_ = value;
    if (name == "aws_secret_access_key") secret_ = value;
    return {};
  }
  Result<void> end() {
    if (line_ == 0) return {};
    if (id_.empty() || secret_.empty()) {
      return bad_line(line_, "a profile needs aws_access_key_id and aws_secret_access_key");
    }
    if (!all_.emplace(std::exchange(id_, {}), std::exchange(secret_, {})).second) {
      return bad_line(line_, "its access key is given twice");
    }
    return {};
  }
  Credentials take() { return std::move(all_); }

 private:
  Credentials all_;
  int line_ = 0;  // of the profile; 0 before the first one
  std::string id_;
  std::string secret_;
};

}  // namespace

Result<Credentials> parse_credentials(std::string_view text) {
  Profiles profiles;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = trimmed(whole);
    if (line.empty() || line.starts_with('#') || line.starts_with(';')) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      STATOR_CHECK_OK(profiles.begin(number));
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == line.npos) return bad_line(number, "neither [profile] nor name = value");
    STATOR_CHECK_OK(
        profiles.set(number, trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1))));
  }
  STATOR_CHECK_OK(profiles.end());
  Credentials all = profiles.take();
  if (all.empty()) return fail(Code::kInvalidArgument, "no profile in it");
  return all;
}

Result<Credentials> read_credentials(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text(kCredentialsFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    return fail(Code::kIo, fmt::format("cannot read the credentials file '{}': {}", file.string(),
                                       std::strerror(errno)));
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kCredentialsFileBytesMax) {
    return fail(Code::kInvalidArgument,
                fmt::format("the credentials file '{}' is larger than {} bytes", file.string(),
                            kCredentialsFileBytesMax));
  }
  auto parsed = parse_credentials(text);
  if (parsed) return parsed;
  return fail(parsed.error().code, fmt::format("the credentials file '{}' cannot be used: {}",
                                               file.string(), parsed.error().message));
}

}  // namespace stator::server
