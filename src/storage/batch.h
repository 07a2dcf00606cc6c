// SPDX-License-Identifier: Apache-2.0
// Batch: the writes of one transaction, in order. If several have the same key, the last one
// applies.
//
// Commit versions: a commit assigns each versioned row a number above 0, its position in the order
// of all versioned rows of the store. Commit versions ascend within a batch in the order of the
// puts, and from one commit of a key to the next. This includes restarts, crashes and copies. A
// version that a reader has seen is assigned only once, even if a power failure removes its row.
// Thread safety: as for std::vector.
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
  void put(std::string key, std::string value) {
    put_bytes_ += key.size() + value.size();
    bytes_ += key.size() + value.size() + kOverheadBytes;
    writes_.push_back({std::move(key), std::move(value)});
  }
  void erase(std::string key) {
    erases_ = true;
    bytes_ += key.size() + kOverheadBytes;
    writes_.push_back({std::move(key), std::nullopt});
  }
  // Puts a row whose key is `prefix`, the big-endian commit version, and `suffix`.
  void put_versioned(std::string_view prefix, std::string_view suffix, std::string value) {
    std::string key;
    key.reserve(prefix.size() + kCommitVersionBytes + suffix.size());
    key.append(prefix).append(kCommitVersionBytes, '\0').append(suffix);
    versioned_.push_back({.write = writes_.size(), .offset = prefix.size()});
    bytes_ += key.size() + value.size() + kOverheadBytes;
    writes_.push_back({std::move(key), std::move(value)});
  }
  // Puts a SchemaRow; version 0 erases it.
  void put_schema_version(std::string key, uint64_t version) {
    schema_writes_.push_back({.write = writes_.size(), .version = version});
    if (version == 0) return erase(std::move(key));
    std::string value;
    append_big_endian(value, version);
    put(std::move(key), std::move(value));
  }
  struct SchemaWrite {
    std::size_t write = 0;  // in writes()
    uint64_t version = 0;
  };
  const std::vector<SchemaWrite>& schema_writes() const { return schema_writes_; }

  // Assigns the commit versions after `last`, and sets `last` to the last one that it assigns.
  void assign_commit_versions(uint64_t& last) {
    for (const Versioned& versioned : versioned_) {
      char* const place = writes_[versioned.write].key.data() + versioned.offset;
      put_big_endian(place, kCommitVersionBytes, ++last);
    }
  }
  // The positions of commit versions, in the order of the writes.
  struct Versioned {
    std::size_t write = 0;   // in writes()
    std::size_t offset = 0;  // in its key
  };
  const std::vector<Versioned>& versioned() const { return versioned_; }
  const std::vector<Write>& writes() const { return writes_; }
  std::vector<Write>& writes() { return writes_; }
  bool empty() const { return writes_.empty(); }
  std::size_t bytes() const { return bytes_; }
  // Whether a compaction frees space after this batch: it erases rows, and puts only a few bytes.
  bool frees_space() const { return writes_.empty() || (erases_ && put_bytes_ <= kNotesBytesMax); }

 private:
  static constexpr std::size_t kNotesBytesMax = 4096;
  static constexpr std::size_t kOverheadBytes = 96;  // counted per write, for the queue's limit
  std::vector<Write> writes_;
  std::vector<Versioned> versioned_;
  std::vector<SchemaWrite> schema_writes_;
  std::size_t bytes_ = kOverheadBytes;
  std::size_t put_bytes_ = 0;  // without versioned rows
  bool erases_ = false;
};

}  // namespace stator
