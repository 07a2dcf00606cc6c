// SPDX-License-Identifier: Apache-2.0
// Batch: the writes of one transaction, in order. Of several writes to one key the last counts.
//
// Commit versions: a commit gives each versioned row a position in the order of all versioned rows
// of the store, big endian and above 0. Commit versions ascend within a batch as its rows were put,
// and from one commit of a key to the next. They ascend across restarts, crashes and copies. None
// is given twice in one history of the store, unless durability is os and a loss of power took the
// row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/big_endian.h"

namespace stator {

inline constexpr std::size_t kCommitVersionBytes = 8;
inline constexpr std::size_t kSchemaVersionBytes = 8;

struct Write {
  std::string key;
  std::optional<std::string> value;  // absent: erase
};

class Batch {
 public:
  void put(std::string_view key, std::string_view value) {
    put_bytes_ += key.size() + value.size();
    bytes_ += key.size() + value.size() + kOverheadBytes;
    writes_.push_back({std::string(key), std::string(value)});
  }
  void erase(std::string_view key) {
    erases_ = true;
    bytes_ += key.size() + kOverheadBytes;
    writes_.push_back({std::string(key), std::nullopt});
  }
  // Puts a row whose key is `prefix`, the commit version in kCommitVersionBytes, `suffix`.
  void put_versioned(std::string_view prefix, std::string_view suffix, std::string_view value) {
    std::string key;
    key.reserve(prefix.size() + kCommitVersionBytes + suffix.size());
    key.append(prefix).append(kCommitVersionBytes, '\0').append(suffix);
    versioned_.push_back({.write = writes_.size(), .offset = prefix.size()});
    bytes_ += key.size() + value.size() + kOverheadBytes;
    writes_.push_back({std::move(key), std::string(value)});
  }
  // Puts a SchemaRow; version 0 erases it.
  void put_schema_version(std::string_view key, uint64_t version) {
    schema_writes_.push_back({.write = writes_.size(), .version = version});
    if (version == 0) return erase(key);
    std::string value;
    append_big_endian(value, version);
    put(key, value);
  }
  struct SchemaWrite {
    std::size_t write = 0;  // in writes()
    uint64_t version = 0;
  };
  const std::vector<SchemaWrite>& schema_writes() const { return schema_writes_; }

  // Fills in the commit versions that follow `last`, which becomes the last one given.
  void assign_commit_versions(uint64_t& last) {
    for (const Versioned& versioned : versioned_) {
      char* const place = writes_[versioned.write].key.data() + versioned.offset;
      put_big_endian(place, kCommitVersionBytes, ++last);
    }
  }
  // Where commit versions go, in the order of the writes.
  struct Versioned {
    std::size_t write = 0;   // in writes()
    std::size_t offset = 0;  // in its key
  };
  const std::vector<Versioned>& versioned() const { return versioned_; }
  const std::vector<Write>& writes() const { return writes_; }
  std::vector<Write>& writes() { return writes_; }
  bool empty() const { return writes_.empty(); }
  std::size_t bytes() const { return bytes_; }
  // It deletes rows and puts little besides records of that, so space is free after a compaction.
  bool frees_space() const { return writes_.empty() || (erases_ && put_bytes_ <= kNotesBytesMax); }

 private:
  static constexpr std::size_t kNotesBytesMax = 4096;
  static constexpr std::size_t kOverheadBytes = 96;  // of bookkeeping, for the queue's bound
  std::vector<Write> writes_;
  std::vector<Versioned> versioned_;
  std::vector<SchemaWrite> schema_writes_;
  std::size_t bytes_ = kOverheadBytes;
  std::size_t put_bytes_ = 0;  // without versioned rows
  bool erases_ = false;
};

}  // namespace stator
