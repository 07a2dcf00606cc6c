// SPDX-License-Identifier: Apache-2.0
#include "storage/schema_rows.h"

#include <algorithm>
#include <utility>

#include "base/big_endian.h"

namespace stator {

Result<std::shared_ptr<const SchemaRow>> SchemaRows::lend(std::string_view key, ReadVersion read) {
  if (const auto known = rows_.find(key); known != rows_.end()) return known->second;
  if (rows_.size() >= kept_max_) {
    std::erase_if(rows_, [](const auto& entry) { return entry.second.use_count() == 1; });
    kept_max_ = std::max<std::size_t>(64, 2 * rows_.size());
  }
  std::string own(key);
  STATOR_ASSIGN_OR_RETURN(const uint64_t version, read(own));
  return rows_.emplace(own, std::make_shared<SchemaRow>(own, version)).first->second;
}

void SchemaRows::note_versions(const Batch& batch) {
  for (const Batch::SchemaWrite& write : batch.schema_writes()) {
    const auto row = rows_.find(batch.writes()[write.write].key);
    if (row != rows_.end()) row->second->set_newest(write.version);
  }
}

void SchemaRows::read_again(ReadVersion read) {
  for (const auto& [key, row] : rows_) {
    if (const auto version = read(key)) row->set_newest(*version);
  }
}

uint64_t schema_version_in(std::string_view value) {
  return read_big_endian(value.substr(0, kSchemaVersionBytes));
}

CommitResult schema_changed() {
  return {.outcome = CommitOutcome::kSchemaChanged,
          .error = {.code = Code::kConflict, .message = "the schema has changed"}};
}

}  // namespace stator
