// SPDX-License-Identifier: Apache-2.0
#include "transfer/bucket.h"

#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

namespace stator::transfer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kObjectsMax = 50'000;
constexpr std::size_t kNameBytesMax = 255;
constexpr int kDirectoryDepthMax = 100;

Failure refused(std::string_view key) {
  return fail(Code::kAccessDenied, "no access to '" + std::string(key) + "'");
}

// The parts of a key; absent if a file cannot have this name.
std::optional<std::vector<std::string>> parts_of(std::string_view key) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(key.find('/'), key.size());
    const std::string_view part = key.substr(0, end);
    if (part.empty() || part == "." || part == ".." || part.size() > kNameBytesMax ||
        part.find('\0') != std::string_view::npos) {
      return std::nullopt;
    }
    parts.emplace_back(part);
    if (end == key.size()) return parts;
    key.remove_prefix(end + 1);
  }
}

// Whether a path is a directory, not a symbolic link. False if it does not exist.
Result<bool> is_real_directory(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::none) return file_failure("open", path, error.value());
  return type == fs::file_type::directory;
}

Result<void> write_durably(const fs::path& path, std::string_view bytes) {
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0 || !write_all(file.get(), bytes) || fsync(file.get()) != 0) {
    return file_failure("write", path, errno);
  }
  return {};
}

}  // namespace

Result<Bucket> Bucket::open(const fs::path& buckets, const std::string& name) {
  const auto parts = parts_of(name);
  if (!buckets.empty() && parts && parts->size() == 1) {
    STATOR_ASSIGN_OR_RETURN(const bool exists, is_real_directory(buckets / name));
    if (exists) return Bucket(buckets / name);
  }
  return fail(Code::kNotFound, "bucket '" + name + "' does not exist");
}

Result<Bucket> Bucket::open(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return fail(Code::kNotFound, "directory '" + directory.string() + "' does not exist");
  }
  return Bucket(directory);
}

Result<std::vector<std::string>> Bucket::keys(std::string_view prefix) const {
  std::vector<std::string> keys;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory_, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() > kDirectoryDepthMax) entry.disable_recursion_pending();
    const std::string key = entry->path().lexically_relative(directory_).generic_string();
    std::error_code unknown;  // also set for a file that was deleted in the meantime
    const fs::file_type type = entry->symlink_status(unknown).type();
    if (type == fs::file_type::none) return file_failure("list", directory_, unknown.value());
    if (type != fs::file_type::regular) continue;
    if (!key.starts_with(prefix)) continue;
    if (keys.size() == kObjectsMax) return fail(Code::kLimitExceeded, "there are too many objects");
    keys.push_back(key);
  }
  if (error) return file_failure("list", directory_, error.value());
  std::ranges::sort(keys);
  return keys;
}

Result<std::unique_ptr<ByteSource>> Bucket::read(const std::string& key) const {
  const auto parts = parts_of(key);
  if (!parts) return refused(key);
  fs::path path = directory_;
  for (const std::string& part : *parts) {
    if (path != directory_) {
      STATOR_ASSIGN_OR_RETURN(const bool is_directory, is_real_directory(path));
      if (!is_directory) return refused(key);
    }
    path /= part;
  }
  return open_file(path);
}

Result<fs::path> Bucket::place_for(const std::string& key) const {
  const auto parts = parts_of(key);
  if (!parts) return refused(key);
  fs::path path = directory_;
  for (std::size_t i = 0; i + 1 < parts->size(); ++i) {
    const fs::path parent = path;
    path /= (*parts)[i];
    if (mkdir(path.c_str(), 0777) == 0) {
      STATOR_RETURN_IF_ERROR(sync_directory(parent));
      continue;
    }
    if (errno != EEXIST) return file_failure("create", path, errno);
    STATOR_ASSIGN_OR_RETURN(const bool is_directory, is_real_directory(path));
    if (!is_directory) return refused(key);
  }
  return path / parts->back();
}

Result<void> Bucket::write(const std::string& key, std::string_view bytes) const {
  STATOR_ASSIGN_OR_RETURN(const fs::path place, place_for(key));
  const fs::path written = begin_writing(place);
  STATOR_RETURN_IF_ERROR(write_durably(written, bytes));
  return put_in_place(written, place);
}

fs::path Bucket::begin_writing(const fs::path& place) const {
  const auto incomplete = [&](uint64_t writer) {
    return fs::path(place.string() + "." + std::to_string(writer) + ".part");
  };
  if (writer_ == 0) return place.string() + ".part";
  for (uint64_t earlier = 1; earlier < writer_; ++earlier) {
    std::error_code ignored;
    fs::remove(incomplete(earlier), ignored);
  }
  return incomplete(writer_);
}

bool Bucket::has(const std::string& key) const {
  return parts_of(key) && read(key).has_value();
}

uint64_t Bucket::size(const std::string& key) const {
  std::error_code unknown;
  const uint64_t bytes = parts_of(key) ? fs::file_size(directory_ / key, unknown) : 0;
  return unknown ? 0 : bytes;
}

void Bucket::remove(const std::string& key) const {
  std::error_code ignored;
  if (parts_of(key)) fs::remove(directory_ / key, ignored);
}

std::string trimmed_prefix(std::string_view prefix) {
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return std::string(prefix);
}

Result<void> replace_file(const fs::path& place, std::string_view bytes) {
  const fs::path written = place.string() + ".part";
  STATOR_RETURN_IF_ERROR(write_durably(written, bytes));
  return put_in_place(written, place);
}

Result<void> put_in_place(const fs::path& written, const fs::path& place) {
  std::error_code error;
  fs::rename(written, place, error);
  if (error == std::errc::no_such_file_or_directory) {  // another attempt writes it again
    return fail(Code::kIo, "could not write '" + place.string() + "': it was deleted too early");
  }
  if (error) return file_failure("write", place, error.value());
  return sync_directory(place.parent_path());
}

}  // namespace stator::transfer
