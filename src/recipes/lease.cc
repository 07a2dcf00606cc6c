// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/random.h"
#include "recipes/keys.h"
#include "recipes/lock_item.h"
#include "recipes/requests.h"

namespace stator {

using namespace recipes;

namespace {

using std::chrono::nanoseconds;

constexpr const char* kIsCurrent = "#owner = :owner AND fence = :fence";
constexpr std::size_t kMaxActions = 100;

Failure lost(const std::string& name) {
  return fail(Code::kLost, "the lease of " + name + " was lost to another holder");
}

// Whether the item, which is not held under this lease, shows that this lease was released. Its
// own release may have been applied by an attempt whose reply was lost, and another may hold the
// lock by now: `released` still tells, until that one releases it too.
bool was_released(const Item* item, Fence fence) {
  if (item == nullptr) return false;
  return int64_in(*item, "released") == to_int64(fence);
}

}  // namespace

namespace recipes {

std::string lock_key(std::string_view name) {
  return "LOCK#" + escape(name);
}

std::optional<StoredLock> parse_lock(const Item& item) {
  const std::string* owner = text_in(item, "owner");
  const std::string* nonce = text_in(item, "nonce");
  const auto fence = int64_in(item, "fence");
  const auto lease_ms = int64_in(item, "lease_ms");
  constexpr int64_t kMaxLeaseMs = std::chrono::milliseconds(std::chrono::hours(24)).count();
  if (owner == nullptr || nonce == nullptr || !fence || !lease_ms) return std::nullopt;
  if (*lease_ms < 1 || *lease_ms > kMaxLeaseMs) return std::nullopt;
  StoredLock lock{.holder = {.owner = *owner,
                             .user = {},
                             .fence = Fence{*fence},
                             .lease = std::chrono::milliseconds(*lease_ms),
                             .acquired_at = {}},
                  .nonce = *nonce};
  if (const std::string* user = text_in(item, "user")) lock.holder.user = *user;
  if (const std::string* acquired_at = text_in(item, "acquired_at")) {
    lock.holder.acquired_at = Time::parse(*acquired_at).value_or(Time());
  }
  return lock;
}

void abandon_lock(const LockTable& table, const std::string& key, const std::string& owner) {
  (void)table.client.update_item({.table = table.options.table,
                                  .key = {{"pk", key}},
                                  .update = "REMOVE #owner, nonce, lease_ms, #user, acquired_at",
                                  .condition = "#owner = :owner",
                                  .names = Names{{"#owner", "owner"}, {"#user", "user"}},
                                  .values = Values{{":owner", owner}}});
}

}  // namespace recipes

Values Lease::State::identity() const {
  return {{":owner", owner}, {":fence", to_int64(fence)}};
}

Lease::Lease(std::unique_ptr<State> state) : state_(std::move(state)) {}
Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    if (state_) (void)release();
    state_ = std::move(other.state_);
  }
  return *this;
}

Lease::~Lease() {
  if (state_) (void)release();
}

Fence Lease::fence() const {
  return state_->fence;
}
const std::string& Lease::name() const {
  return state_->name;
}

nanoseconds Lease::remaining() const {
  if (!state_ || state_->released || state_->lost) return nanoseconds(0);
  const nanoseconds gone = state_->table->time.since_boot() - state_->counted_from;
  return std::max(nanoseconds(0), state_->length - gone);
}

Result<void> Lease::renew() {
  if (!state_) return invalid("lease", "was moved from");
  State& state = *state_;
  if (state.released || state.lost) return lost(state.name);
  const LockTable& table = *state.table;
  Values values = state.identity();
  values.emplace(":nonce", random_uuid());
  const UpdateItemRequest request{.table = table.options.table,
                                  .key = {{"pk", state.key}},
                                  .update = "SET nonce = :nonce",
                                  .condition = kIsCurrent,
                                  .names = Names{{"#owner", "owner"}},
                                  .values = std::move(values)};
  nanoseconds sent_at{0};
  auto written = with_retries(table.options.retry, table.time, [&] {
    sent_at = table.time.since_boot();
    return table.client.update_item(request);
  });
  if (written) {
    state.counted_from = sent_at;
    return {};
  }
  if (written.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(written));
  state.lost = true;
  return lost(state.name);
}

Result<void> Lease::release() {
  if (!state_) return {};
  State& state = *state_;
  if (state.released) return {};
  if (state.lost) return lost(state.name);
  const LockTable& table = *state.table;
  const UpdateItemRequest request{
      .table = table.options.table,
      .key = {{"pk", state.key}},
      .update = "REMOVE #owner, nonce, lease_ms, #user, acquired_at SET released = :fence",
      .condition = kIsCurrent,
      .names = Names{{"#owner", "owner"}, {"#user", "user"}},
      .values = state.identity(),
      .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  auto written = with_retries(table.options.retry, table.time,
                              [&] { return table.client.update_item(request); });
  if (written) {
    state.released = true;
    return {};
  }
  if (written.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(written));
  if (was_released(item_in(written.error()), state.fence)) {
    state.released = true;
    return {};
  }
  state.lost = true;
  return lost(state.name);
}

Result<TransactWriteItemsResult> Lease::commit(TransactWriteItemsRequest transaction) const {
  if (!state_) return invalid("lease", "was moved from");
  const State& state = *state_;
  if (transaction.items.size() >= kMaxActions) {
    return invalid("transaction", "has more than 99 actions");
  }
  if (state.released || state.lost) return lost(state.name);
  const LockTable& table = *state.table;
  const std::size_t check = transaction.items.size();
  transaction.items.push_back({.action = TransactAction::kConditionCheck,
                               .table = table.options.table,
                               .item = {{"pk", state.key}},
                               .condition = kIsCurrent,
                               .names = Names{{"#owner", "owner"}},
                               .values = state.identity()});
  // A token tells an attempt whose reply was lost from a new one. One that was refused has had
  // no effect, and its token may not be used again everywhere.
  const bool own_token = !transaction.client_request_token;
  if (own_token) transaction.client_request_token = random_uuid();
  auto written = with_retries(table.options.retry, table.time, [&] {
    auto result = table.client.transact_write_items(transaction);
    if (!result && own_token && result.error().code == Code::kTransactionCanceled) {
      transaction.client_request_token = random_uuid();
    }
    return result;
  });
  if (!written && condition_failed_at(written.error(), check)) return lost(state.name);
  return written;
}

}  // namespace stator
