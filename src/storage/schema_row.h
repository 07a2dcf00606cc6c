// SPDX-License-Identifier: Apache-2.0
// SchemaRow: a row with the version of a schema, such as a table definition. Its value begins with
// the version, 8 bytes big endian; an absent row has version 0. Only Batch::put_schema_version()
// writes it.
//
// Thread safety: any thread.
// Lifetime: it can outlive the store that returns it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace stator {

class SchemaRow {
 public:
  explicit SchemaRow(std::string key, uint64_t newest = 0)
      : key_(std::move(key)), newest_(newest) {}

  const std::string& key() const { return key_; }
  // For stores of one process: the version after all commits that are ordered so far.
  uint64_t newest() const { return newest_.load(std::memory_order_relaxed); }
  void set_newest(uint64_t version) { newest_.store(version, std::memory_order_relaxed); }

 private:
  const std::string key_;
  std::atomic<uint64_t> newest_;
};

// The version that a transaction expects. The row must live until the transaction ends.
struct SchemaVersion {
  const SchemaRow* row = nullptr;
  uint64_t version = 0;
};
using SchemaVersions = std::span<const SchemaVersion>;

}  // namespace stator
