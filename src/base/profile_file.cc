// SPDX-License-Identifier: Apache-2.0
#include "base/profile_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace stator {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Failure bad_line(int line, std::string_view problem) {
  return fail(Code::kInvalidArgument, "line " + std::to_string(line) + ": " + std::string(problem));
}

}  // namespace

Result<std::vector<ProfileSection>> parse_profiles(std::string_view text) {
  std::vector<ProfileSection> sections;
  std::string outer;  // the setting that indented lines belong to; empty: none
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = trimmed(whole);
    if (line.empty() || line.starts_with('#') || line.starts_with(';')) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      sections.push_back(
          {.line = number, .name = std::string(trimmed(line.substr(1, line.size() - 2)))});
      outer.clear();
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == line.npos) return bad_line(number, "expected [profile] or name = value");
    if (sections.empty()) return bad_line(number, "expected [profile] before the first setting");
    std::string name(trimmed(line.substr(0, equals)));
    const std::string_view value = trimmed(line.substr(equals + 1));
    const bool indented = kBlank.find(whole.front()) != kBlank.npos;
    if (!indented) {
      outer = value.empty() ? name : "";
    } else if (!outer.empty()) {
      name.insert(0, outer + ".");
    }
    sections.back().settings.push_back(
        {.line = number, .name = std::move(name), .value = std::string(value)});
  }
  return sections;
}

Result<std::string> read_profile_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(kProfileFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    return fail(Code::kIo, "could not read '" + file.string() + "': " + std::strerror(errno));
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() <= kProfileFileBytesMax) return text;
  return fail(Code::kInvalidArgument, "'" + file.string() + "' is larger than " +
                                          std::to_string(kProfileFileBytesMax) + " bytes");
}

}  // namespace stator
