// SPDX-License-Identifier: Apache-2.0
// HistoryHold: what a job is to read stays for as long as this lives, where it is in no record yet.
#pragma once

#include "engine/catalog/catalog.h"

namespace stator {

class HistoryHold {
 public:
  HistoryHold(Catalog& catalog, const HeldHistory& history) : catalog_(catalog), history_(history) {
    catalog_.hold(history_);
  }
  ~HistoryHold() { catalog_.release(history_); }
  HistoryHold(const HistoryHold&) = delete;
  HistoryHold& operator=(const HistoryHold&) = delete;

 private:
  Catalog& catalog_;
  HeldHistory history_;
};

}  // namespace stator
