// SPDX-License-Identifier: Apache-2.0
// HistoryHold: what a job is to read stays for as long as this lives, where it is in no record yet.
#pragma once

#include "engine/catalog/catalog.h"

namespace stator {

class HistoryHold {
 public:
  HistoryHold(Catalogue& catalogue, const HeldHistory& history)
      : catalogue_(catalogue), history_(history) {
    catalogue_.hold(history_);
  }
  ~HistoryHold() { catalogue_.release(history_); }
  HistoryHold(const HistoryHold&) = delete;
  HistoryHold& operator=(const HistoryHold&) = delete;

 private:
  Catalogue& catalogue_;
  HeldHistory history_;
};

}  // namespace stator
