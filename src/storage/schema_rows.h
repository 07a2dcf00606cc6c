// SPDX-License-Identifier: Apache-2.0
// SchemaRows: the schema rows that a store of one process has returned, with their newest versions.
//
// Thread safety: none. The store calls it with the mutex held that orders the commits, so that
// versions and the commits that expect them are in one order.
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

  // Returns the row of a key. `read` returns the newest version of a row that is not known yet.
  Result<std::shared_ptr<const SchemaRow>> lend(std::string_view key, ReadVersion read);
  // Records the versions in a batch that has been ordered.
  void note(const Batch& batch) {
    if (!batch.schema_writes().empty()) note_versions(batch);
  }
  // Reads the versions again, after ordered batches were lost.
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
  std::size_t kept_max_ = 64;  // number of rows at which unused ones are dropped
};

// The version in a row's value.
uint64_t schema_version_in(std::string_view value);
// The result kSchemaChanged.
CommitResult schema_changed();

}  // namespace stator
