// SPDX-License-Identifier: Apache-2.0
// DecisionLog: a line for each request that policies deny, and optionally for each that they allow.
//
// Lines contain the key, the action, the resource and the statement, but no secret and no part of
// an item. Thread safety: any thread; no caller waits for a file.
#pragma once

#include <cstdint>
#include <string>

#include "policy/evaluate.h"
#include "server/line_writer.h"
#include "server/log.h"

namespace stator::server {

enum class Decisions { kDenied, kAll };

std::string decision_to_text(const policy::Context& context, const policy::Verdict& verdict);
std::string decision_to_json(const policy::Context& context, const policy::Verdict& verdict);

class DecisionLog {
 public:
  // The writer must outlive it.
  DecisionLog(LogFormat format, Decisions decisions, LineWriter& lines)
      : format_(format), decisions_(decisions), lines_(lines) {}

  bool wants_allowed() const { return decisions_ == Decisions::kAll; }
  void write(const policy::Context& context, const policy::Verdict& verdict);

 private:
  LogFormat format_;
  Decisions decisions_;
  LineWriter& lines_;
};

}  // namespace stator::server
