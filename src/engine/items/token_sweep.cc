// SPDX-License-Identifier: Apache-2.0
#include "engine/items/token_sweep.h"

#include <memory>
#include <vector>

#include "engine/catalog/catalog_commit.h"
#include "engine/items/tokens.h"

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
    const int64_t now_ms = clock_.unix_ms();
    // The clock was set back: later tokens can expire before earlier ones.
    if (now_ms < state_.time_ms) state_.reached.clear();
    state_.time_ms = now_ms;
    STATOR_ASSIGN_OR_RETURN(const auto expired,
                            expired_tokens(store_, state_.reached, now_ms, kTokensAtOnce));
    if (expired.empty()) return JobState::kDone;
    STATOR_RETURN_IF_ERROR(erase(expired));
    state_.reached = expired.back().expiry_key;
    return JobState::kMore;
  }
  Result<void> abandon(const Error&) override { return {}; }  // until the next sweep

 private:
  // A token can have been used again since: its row is erased only if it is still the expired one.
  Result<void> erase(const std::vector<ExpiredToken>& expired) {
    std::vector<std::string> keys;
    keys.reserve(expired.size());
    for (const ExpiredToken& token : expired) keys.push_back(token.row_key);
    const auto change = [&](GuardedRows rows, Batch& batch) -> Result<void> {
      for (std::size_t i = 0; i < expired.size(); ++i) {
        batch.erase(expired[i].expiry_key);
        if (!rows[i]) continue;
        const auto row = decode_token_row(*rows[i]);
        if (!row || row->expires_ms == expired[i].expires_ms) batch.erase(keys[i]);
      }
      return {};
    };
    return commit_change(store_, keys, change);
  }

  TransactStore& store_;
  const Clock& clock_;
  TokenSweepState& state_;
};

}  // namespace

void start_token_sweep(JobRunner& jobs, TransactStore& store, const Clock& clock,
                       TokenSweepState& state) {
  if (state.is_running.exchange(true)) return;
  jobs.add("sweep of expired tokens", std::make_unique<TokenSweep>(store, clock, state));
}

}  // namespace stator
