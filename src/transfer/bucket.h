// SPDX-License-Identifier: Apache-2.0
// Bucket: a directory used as an S3 bucket. Its objects are the files in it, with their relative
// paths as keys.
//
// Keys cannot refer to files outside the directory: symbolic links are not followed, and keys with
// empty parts, "." or ".." are rejected.
// Errors: kNotFound if the bucket does not exist; kAccessDenied for invalid keys; those of
// file_failure().
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
  // The directory `name` in `buckets`; `name` must be a valid bucket name.
  static Result<Bucket> open(const std::filesystem::path& buckets, const std::string& name);
  // The directory itself.
  static Result<Bucket> open(const std::filesystem::path& directory);

  // Sets this writer's number; 0: the only writer. Writers with different numbers from 1 on can
  // write the same objects concurrently if they write the same bytes. Each has its own file until
  // an object is complete, and deletes the incomplete files of writers with lower numbers.
  void write_as(uint64_t writer) { writer_ = writer; }
  // Returns the path to write an object to until it is complete. Deletes the incomplete files of
  // earlier writers.
  std::filesystem::path begin_writing(const std::filesystem::path& place) const;

  // Keys that begin with `prefix`, in order. Errors: kLimitExceeded for more than 50,000, the limit
  // of an import.
  Result<std::vector<std::string>> keys(std::string_view prefix) const;
  Result<std::unique_ptr<ByteSource>> read(const std::string& key) const;
  // The path of an object; creates its directories.
  Result<std::filesystem::path> place_for(const std::string& key) const;
  // Writes an object atomically and durably.
  Result<void> write(const std::string& key, std::string_view bytes) const;
  bool has(const std::string& key) const;
  uint64_t size(const std::string& key) const;  // 0 if unknown
  void remove(const std::string& key) const;

 private:
  explicit Bucket(std::filesystem::path directory) : directory_(std::move(directory)) {}
  std::filesystem::path directory_;
  uint64_t writer_ = 0;
};

// A key prefix without leading and trailing slashes.
std::string trimmed_prefix(std::string_view prefix);

// Replaces a file's content atomically and durably.
Result<void> replace_file(const std::filesystem::path& place, std::string_view bytes);
// Renames a written and synced file durably.
Result<void> put_in_place(const std::filesystem::path& written, const std::filesystem::path& place);

}  // namespace stator::transfer
