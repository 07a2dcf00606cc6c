// SPDX-License-Identifier: Apache-2.0
// LossyFileSystem: the files of a machine whose power and disk can fail.
//
// Writes are in the files immediately, like in an operating system's cache. After the power has
// failed and all files are closed, drop_unsynced() discards what a disk could have lost. Of each
// file, these are the bytes since its last sync, except a random part with a damaged end. Of each
// directory, these are the last files created, renamed and deleted since its last sync.
//
// Thread safety: as rocksdb::FileSystem; call drop_unsynced() when no file is open.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace stator::test {

enum class FileChange { kAppend, kZero, kSync, kCreate, kRename, kDelete, kSyncDirectory };

class LossyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  // Keeps deleted files in `attic`, an empty directory next to those that are used.
  explicit LossyFileSystem(std::filesystem::path attic);

  // The power fails after this many changes: later ones have no effect.
  void fail_power_after(uint64_t changes);
  // Kills this process after this many changes, before the next one.
  void kill_process_after(uint64_t changes);
  void drop_unsynced(std::mt19937_64& random);

  struct Fault {
    FileChange change = FileChange::kAppend;
    std::string part = {};          // of the names of the affected files
    rocksdb::IOStatus status = {};  // OK: the change is made, but no space is left after it
    uint64_t after = 0;             // number of such changes before it
    bool lasting = false;           // until mend()
  };
  void fail(Fault fault);
  void mend();
  bool has_failed() const;  // whether the fault has occurred

  const char* Name() const override { return "LossyFileSystem"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 uint64_t* free, rocksdb::IODebugContext* debug) override;

 private:
  class Writable;
  class Directory;
  struct Contents {
    uint64_t bytes = 0;
    uint64_t synced_bytes = 0;
    uint64_t zeroed = 0;  // the size with zeros after `bytes`
    uint64_t synced_zeroed = 0;
  };
  using ContentsPtr = std::shared_ptr<Contents>;
  // A change of a directory since its last sync. `displaced`: the copy of a file that was deleted
  // or replaced.
  struct Entry {
    FileChange change = FileChange::kCreate;
    std::string name;
    std::string from = {};  // of a renamed file
    std::optional<std::string> displaced = {};
    ContentsPtr displaced_contents = nullptr;
  };

  // Call these with mutex_ held.
  rocksdb::IOStatus permit(FileChange change, const std::string& name);
  rocksdb::IOStatus displace(const std::string& name, Entry& entry);
  ContentsPtr contents_of(const std::string& name);
  void undo(const Entry& entry);
  void damage(const std::string& name, const Contents& contents, std::mt19937_64& random);

  const std::filesystem::path attic_;
  mutable std::mutex mutex_;
  std::optional<uint64_t> changes_left_;  // before the power fails, or the process is killed
  bool kills_ = false;
  std::optional<Fault> fault_;
  bool has_failed_ = false;
  int displaced_ = 0;
  std::map<std::string, ContentsPtr> contents_;
  std::map<std::string, std::vector<Entry>> unsynced_entries_;  // by directory
};

// The environment for RocksDB. It shortens RocksDB's pauses of a second after each background
// error.
std::unique_ptr<rocksdb::Env> make_env_on(const std::shared_ptr<LossyFileSystem>& files);

}  // namespace stator::test
