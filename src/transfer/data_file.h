// SPDX-License-Identifier: Apache-2.0
// DataFileWriter: writes a data file of an export or a report, lines compressed with gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "transfer/bucket.h"

namespace stator::transfer {

struct DataFile {
  std::string key;
  int64_t items = 0;
  std::string md5;   // in base64
  std::string etag;  // as S3 computes it for a single-part upload
};

std::string md5_of(std::string_view bytes);  // 16 bytes
// MD5 in base64, as in the manifests.
std::string checksum_of(std::string_view bytes);

class DataFileWriter {
 public:
  static Result<std::unique_ptr<DataFileWriter>> create(const Bucket& bucket, std::string key);
  virtual ~DataFileWriter() = default;
  virtual Result<void> add(std::string_view line) = 0;
  // Makes the file durable under its name. Without this call, the destructor deletes it.
  virtual Result<DataFile> finish() = 0;
  virtual int64_t line_bytes() const = 0;  // uncompressed, so far
};

}  // namespace stator::transfer
