// SPDX-License-Identifier: Apache-2.0
// A table file has a checksum per block. The manifest has one for the whole file, which also covers
// the bytes between the blocks. It also detects a file that was replaced by another intact one.
#include "storage/rocks_files.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/version.h>

#include <memory>
#include <vector>

namespace stator {
namespace {

rocksdb::Status check_blocks(const rocksdb::Options& options, const std::string& path) {
  rocksdb::SstFileReader reader(options);
  const rocksdb::Status status = reader.Open(path);
  return status.ok() ? reader.VerifyChecksum() : status;
}

rocksdb::Status check_whole(const rocksdb::Options& options, const std::string& path,
                            const rocksdb::LiveFileMetaData& file) {
  const auto checksum = options.file_checksum_gen_factory->CreateFileChecksumGenerator(
      {path, file.file_checksum_func_name});
  if (checksum == nullptr) return rocksdb::Status::OK();  // written without one
  std::unique_ptr<rocksdb::SequentialFile> bytes;
  rocksdb::Status status = options.env->NewSequentialFile(path, &bytes, rocksdb::EnvOptions());
  std::vector<char> buffer(1UL << 20);
  while (status.ok()) {
    rocksdb::Slice read;
    status = bytes->Read(buffer.size(), &read, buffer.data());
    if (!status.ok() || read.empty()) break;
    checksum->Update(read.data(), read.size());
  }
  checksum->Finalize();
  if (status.ok() && checksum->GetChecksum() != file.file_checksum) {
    return rocksdb::Status::Corruption("the file is not as it was written");
  }
  return status;
}

// Keeps replaced files until it is destroyed: a compaction would delete them.
class LastingFiles {
 public:
  explicit LastingFiles(rocksdb::DB& db) : db_(db) { db_.DisableFileDeletions(); }
  ~LastingFiles() {
#if ROCKSDB_MAJOR >= 9
    db_.EnableFileDeletions();
#else
    db_.EnableFileDeletions(/*force=*/false);
#endif
  }
  LastingFiles(const LastingFiles&) = delete;
  LastingFiles& operator=(const LastingFiles&) = delete;

 private:
  rocksdb::DB& db_;
};

}  // namespace

void verify_table_files(rocksdb::DB& db, DamageVisitor damaged, BytesVisitor progress) {
  const LastingFiles lasting(db);
  std::vector<rocksdb::LiveFileMetaData> files;
  db.GetLiveFilesMetaData(&files);
  uint64_t total_bytes = 0;
  for (const auto& file : files) total_bytes += file.size;
  const rocksdb::Options options = db.GetOptions();
  uint64_t done_bytes = 0;
  for (const auto& file : files) {
    progress(done_bytes, total_bytes);
    const std::string path = file.db_path + file.name;
    rocksdb::Status status = check_blocks(options, path);
    if (status.ok()) status = check_whole(options, path, file);
    if (!status.ok()) damaged(fmt::format("{}: {}", path, status.ToString()));
    done_bytes += file.size;
  }
}

}  // namespace stator
