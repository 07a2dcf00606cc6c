// SPDX-License-Identifier: Apache-2.0
// SchemaRows: the schema rows that a store of one process has lent, with their newest versions.
//
// Thread safety: none. The store calls it under the mutex under which commits take their places, so
// that a version and the commits that expect it are in one order.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "stator/result.h"
#include "storage/batch.h"
#include "storage/schema_row.h"
#include "storage/transact_store.h"

namespace stator {

class SchemaRows {
 public:
  using ReadVersion = FunctionRef<Result<uint64_t>(const std::string& key)>;

  // `read` returns the newest version of a row that is not known yet.
  Result<std::shared_ptr<const SchemaRow>> lend(std::string_view key, ReadVersion read);
  // A batch has taken its place.
  void note(const Batch& batch) {
    if (!batch.schema_writes().empty()) note_versions(batch);
  }
  // Batches that had taken their places were lost.
  void read_again(ReadVersion read);

  static bool are_newest(SchemaVersions expected) {
    for (const SchemaVersion& schema : expected) {
      if (schema.row->newest() != schema.version) return false;
    }
    return true;
  }

 private:
  void note_versions(const Batch& batch);

  std::map<std::string, std::shared_ptr<SchemaRow>, std::less<>> rows_;
  std::size_t kept_max_ = 64;  // before those that nobody uses are let go
};

// The version in a row's value.
uint64_t schema_version_in(std::string_view value);
// Nothing was applied, since a version is not the one that was expected.
CommitResult schema_changed();

}  // namespace stator
