// SPDX-License-Identifier: Apache-2.0
// ReadLag: older snapshots of a store of one process, for eventually consistent reads. Only test
// mode has a ReadLag.
//
// Thread safety: every method can be called from any thread.
// Lifetime: no operation is in progress when EngineCore::lag is set or reset.
#pragma once

#include <optional>
#include <utility>

#include "engine/core/engine_core.h"
#include "storage/read_rows.h"

namespace stator {

class ReadLag {
 public:
  virtual ~ReadLag() = default;
  // Local indexes are read with their table, vector indexes like global ones.
  enum class Of { kTable, kGlobalIndex };
  // Runs `body` on the snapshot that an eventually consistent read sees now, and returns its
  // result. Absent, without a call of `body`, if the read sees the newest state.
  virtual std::optional<Result<void>> read(const Table& table, Of of, ViewBody body) = 0;
};

// Runs `body` as above, and `done` with its result. Returns false, without running either, if the
// read must use the newest state.
inline bool read_older(EngineCore& engine, const Table& table, ReadLag::Of of, ViewBody body,
                       ReadDone& done) {
  if (engine.lag == nullptr) return false;
  auto outcome = engine.lag->read(table, of, body);
  if (!outcome) return false;
  done(std::move(*outcome));
  return true;
}

// Reads rows of a table on the calling thread: from the older snapshot if the read `may_lag` and
// there is one, otherwise from the newest state. Requires a ReadLag.
inline Result<void> read_with_lag(EngineCore& engine, const Table& table, bool may_lag,
                                  const ReadRequest& rows, ReadVisitor visit) {
  std::optional<Result<void>> outcome;
  if (may_lag) {
    outcome = engine.lag->read(table, ReadLag::Of::kTable,
                               [&](ReadView& view) { return read_rows(view, rows, visit); });
  }
  return outcome ? std::move(*outcome) : read_and_wait(*engine.store, rows, visit);
}

}  // namespace stator
