// SPDX-License-Identifier: Apache-2.0
// Counting what spaces hold, where the engine does not know it.
#pragma once

#include "engine/engine_impl.h"

namespace stator {

// Counts a table of which the process does not know what was there before it started. What is being
// written at the very moment it begins may be counted twice or not at all, so the count is kept for
// later processes only where nothing was.
class CountJob {
 public:
  CountJob(Engine::Impl& engine, TablePtr table) : engine_(engine), table_(std::move(table)) {}
  CountJob(const CountJob&) = delete;
  CountJob& operator=(const CountJob&) = delete;
  ~CountJob() {
    if (!complete_) table_->needs_count() = true;
  }

  void run();

 private:
  Engine::Impl& engine_;
  TablePtr table_;
  bool complete_ = false;
};

// Counts again what the spaces at `positions` of a table hold (see Table::counters). False where
// the store fails or the worker stops.
bool recount(Engine::Impl& engine, const Table& table, std::span<const std::size_t> positions,
             const Worker& worker);

}  // namespace stator
