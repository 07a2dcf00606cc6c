// SPDX-License-Identifier: Apache-2.0
// Bucket: a directory that stands for one of S3's buckets. Its objects are the files in it, by
// their relative paths.
//
// No key leads out of the directory: symbolic links are not followed, and keys have neither empty
// parts nor "." or "..".
// Errors: kNotFound for a bucket that there is not, kAccessDenied for keys that no file can have
// and for files that may not be read or written, kIo.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/byte_source.h"

namespace stator::transfer {

class Bucket {
 public:
  // The directory `name` in `buckets`; `name` is of the form that the API lets buckets have.
  static Result<Bucket> open(const std::filesystem::path& buckets, const std::string& name);
  // The directory itself.
  static Result<Bucket> open(const std::filesystem::path& directory);

  // Keys that begin with `prefix`, in their order. kLimitExceeded for more than 50,000, as many as
  // an import may have.
  Result<std::vector<std::string>> keys(std::string_view prefix) const;
  Result<std::unique_ptr<ByteSource>> read(const std::string& key) const;
  // Where to write an object: the directories above it are there.
  Result<std::filesystem::path> place_for(const std::string& key) const;
  // All of `bytes`, durably, or nothing.
  Result<void> write(const std::string& key, std::string_view bytes) const;
  bool has(const std::string& key) const;
  uint64_t size(const std::string& key) const;  // 0 if that is not known
  void remove(const std::string& key) const;

 private:
  explicit Bucket(std::filesystem::path directory) : directory_(std::move(directory)) {}
  std::filesystem::path directory_;
};

// A prefix as the beginning of keys: without slashes at its ends.
std::string trimmed_prefix(std::string_view prefix);

// The file has these bytes, or what it had: whole and durable.
Result<void> replace_file(const std::filesystem::path& place, std::string_view bytes);
// Makes the renaming of a file that is written and synced durable.
Result<void> put_in_place(const std::filesystem::path& written, const std::filesystem::path& place);

}  // namespace stator::transfer
