// SPDX-License-Identifier: Apache-2.0
#include "engine/items/token_sweep.h"

#include <memory>
#include <vector>

#include "engine/catalog/catalog_commit.h"
#include "engine/items/tokens.h"
#include "engine/rows/time_queue.h"

namespace stator {
namespace {

constexpr std::size_t kTokensAtOnce = 256;

class TokenSweep final : public Job {
 public:
  TokenSweep(TransactStore& store, const Clock& clock, TokenSweepState& state)
      : store_(store), clock_(clock), state_(state) {}
  TokenSweep(const TokenSweep&) = delete;
  TokenSweep& operator=(const TokenSweep&) = delete;
  ~TokenSweep() override { state_.is_running = false; }

  Result<JobState> step() override {
    if (!is_begun_) begin();
    if (left_.empty()) return JobState::kDone;
    STATOR_ASSIGN_OR_RETURN(QueueRead read, read_queue(store_, left_, kTokensAtOnce));
    STATOR_RETURN_IF_ERROR(erase(read.keys));
    left_ = std::move(read.rest);
    if (!left_.empty()) return JobState::kMore;
    state_.from_ms = until_ms_;
    return JobState::kDone;
  }
  Result<void> abandon(const Error&) override { return {}; }  // the next sweep tries again

 private:
  void begin() {
    until_ms_ = clock_.unix_ms() + 1;
    // If the clock was set back, later tokens can expire before earlier ones. The clocks of other
    // processes can differ too.
    if (until_ms_ < state_.from_ms || is_shared_) state_.from_ms = 0;
    left_ = expired_tokens(state_.from_ms, until_ms_);
    is_begun_ = true;
  }

  // A token can have been used again. Its row is erased only if it is still the expired one.
  Result<void> erase(const std::vector<std::string>& queue_keys) {
    std::vector<std::string> keys;
    std::vector<std::string_view> expired;
    for (const std::string& queue_key : queue_keys) {
      const auto token = read_queue_row(queue_key);
      if (!token) continue;
      expired.push_back(queue_key);
      keys.emplace_back(token->row_key);
    }
    if (keys.empty()) return {};
    const auto change = [&](GuardedRows rows, Batch& batch) -> Result<void> {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        batch.erase(std::string(expired[i]));
        if (!rows[i]) continue;
        const auto row = decode_token_row(*rows[i]);
        const auto expired_ms = static_cast<int64_t>(queue_time(expired[i]));
        if (!row || row->expires_ms == expired_ms) batch.erase(keys[i]);
      }
      return {};
    };
    return commit_change(store_, keys, change);
  }

  TransactStore& store_;
  const bool is_shared_ = store_.capabilities().several_processes;
  const Clock& clock_;
  TokenSweepState& state_;
  bool is_begun_ = false;
  int64_t until_ms_ = 0;
  std::vector<RangeRead> left_;  // ranges that this sweep has not read yet
};

}  // namespace

void start_token_sweep(JobRunner& jobs, TransactStore& store, const Clock& clock,
                       TokenSweepState& state) {
  if (state.is_running.exchange(true)) return;
  jobs.add("sweep of expired tokens", std::make_unique<TokenSweep>(store, clock, state));
}

}  // namespace stator
