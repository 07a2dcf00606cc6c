// SPDX-License-Identifier: Apache-2.0
#include "recipes/semaphore/lock_acquisition.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "recipes/common/requests.h"

namespace stator::recipes {
namespace {

using std::chrono::nanoseconds;

std::string random_id() {
  std::string id;
  for (const char byte : random_bytes(8)) {
    id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return id;
}

bool is_expired(const std::vector<ExpiredEntry>& expired, const LockEntry& entry) {
  return std::ranges::any_of(expired, [&](const ExpiredEntry& one) {
    return one.id == entry.who.owner && one.number == to_int64(entry.who.fence) &&
           one.beat == entry.beat;
  });
}

int count_of(const std::vector<ExpiredEntry>& entries) {
  return static_cast<int>(entries.size());
}

}  // namespace

Acquisition::Acquisition(const LockTable& table, Sightings& sightings, const LockName& name,
                         const AcquireOptions& options)
    : table_(table),
      sightings_(sightings),
      name_(name.text),
      key_(table.key_of(name.text)),
      options_(options),
      id_(random_id()) {}

nanoseconds Acquisition::until_sign_of_life() const {
  if (!place_) return nanoseconds::max();
  const nanoseconds due = shown_at_ + nanoseconds(options_.lease) / 3;
  return std::max(nanoseconds(0), due - table_.time.since_boot());
}

bool Acquisition::has_room(const Expired& expired) const {
  const auto before = [&](const LockEntry& entry) {
    return (!place_ || to_int64(entry.who.fence) < *place_) && !is_expired(expired.waiters, entry);
  };
  const auto is_held = [&](const LockEntry& entry) { return !is_expired(expired.holders, entry); };
  const auto ahead = std::ranges::count_if(lock_->waiters, before);
  if (!place_ && ahead > 0) return false;
  return std::ranges::count_if(lock_->holders, is_held) + ahead < options_.permits;
}

bool Acquisition::may_enter() const {
  return options_.order == Order::kFifo && options_.wait.count() > 0 && !place_ && lock_ &&
         lock_->waiters.size() < kMaxWaiters;
}

Acquisition::Step Acquisition::choose(const Expired& expired, bool eager) const {
  if (!lock_ || has_room(expired)) return Step::kTake;
  if (expired.more) return Step::kSweep;
  if (may_enter()) return Step::kEnter;
  if (place_ && until_sign_of_life().count() == 0) return Step::kShow;
  // A rejected attempt is charged by the item's size, five times as much as a read.
  return place_ || (options_.permits > 1 && !eager) ? Step::kLook : Step::kTake;
}

void Acquisition::remove_expired(LockUpdate& update, const Expired& expired) const {
  for (const ExpiredEntry& entry : expired.holders) {
    update.leave(kHolder, entry.id, entry.number);
    update.require_beat(kHolder, entry.id, entry.beat);
  }
  for (const ExpiredEntry& entry : expired.waiters) {
    update.leave(kWaiter, entry.id, entry.number);
    update.require_beat(kWaiter, entry.id, entry.beat);
  }
}

UpdateItemRequest Acquisition::take(const Expired& expired) const {
  LockUpdate update(table_, key_);
  update.require_permits(options_.permits);
  remove_expired(update, expired);
  int free = options_.permits + count_of(expired.holders);
  if (place_) {
    // The number of waiters ahead only decreases: a waiter that left cannot return to its position.
    for (const LockEntry& entry : lock_->waiters) {
      if (to_int64(entry.who.fence) < *place_ && !is_expired(expired.waiters, entry)) --free;
    }
    update.leave(kWaiter, id_, *place_);
  } else {
    update.require("waiting = " + update.value(count_of(expired.waiters)));
    if (expired.empty()) update.or_absent();
  }
  update.require("held < " + update.value(free));
  update.enter(kHolder, id_, options_);
  return update.request(ReturnValues::kUpdatedNew);
}

UpdateItemRequest Acquisition::request(Step step, const Expired& expired) {
  if (step == Step::kTake) return take(expired);
  LockUpdate update(table_, key_);
  switch (step) {
    case Step::kSweep:
      remove_expired(update, expired);
      break;
    case Step::kEnter:
      update.require_permits(options_.permits);
      update.require("waiting < " + update.value(static_cast<int64_t>(kMaxWaiters)));
      update.require(fmt::format("attribute_not_exists({})", update.name(kHolder.number + id_)));
      update.enter(kWaiter, id_, options_);
      break;
    default:
      update.beat(kWaiter, id_, *place_, ++beat_, options_.lease);
  }
  return update.request(ReturnValues::kAllNew);
}

Result<Acquisition::Outcome> Acquisition::step(bool eager) {
  const Expired expired = sightings_.expired(key_, id_);
  const Step step = choose(expired, eager);
  sent_at_ = table_.time.since_boot();
  if (step == Step::kEnter || step == Step::kShow) shown_at_ = sent_at_;
  if (step == Step::kTake && !not_taken_at_) not_taken_at_ = sent_at_;
  STATOR_ASSIGN_OR_RETURN(const Outcome outcome,
                          step == Step::kLook
                              ? look()
                              : written(step, table_.client.update_item(request(step, expired))));
  const bool enters_next = step != Step::kEnter && may_enter();
  return outcome == Outcome::kHeld && (enters_next || step == Step::kSweep) ? Outcome::kOnward
                                                                            : outcome;
}

Result<Acquisition::Outcome> Acquisition::written(Step step, Result<WriteResult> result) {
  if (!result) {
    if (trouble_of(result.error()) == Trouble::kUnknown) maybe_left_behind_ = true;
    return judge_error(result.error());
  }
  if (!result->attributes) return no_lock();
  if (step != Step::kTake) return judge(std::move(result->attributes));
  const auto fence = result->attributes->find(kHolder.number + id_);
  const Number* number =
      fence == result->attributes->end() ? nullptr : fence->second.get_if<Number>();
  if (number == nullptr || !number->to_int64()) return no_lock();
  fence_ = Fence{*number->to_int64()};
  counted_from_ = sent_at_;
  return Outcome::kTaken;
}

Result<Acquisition::Outcome> Acquisition::look() {
  auto found = table_.client.get_item(
      {.table = table_.options.table, .key = table_.item_key(key_), .consistent_read = true});
  if (!found) return judge_error(found.error());
  return judge(std::move(found->item));
}

Result<Acquisition::Outcome> Acquisition::judge_error(const Error& error) {
  error_ = error;
  if (error.code == Code::kConditionalCheckFailed) {
    auto item = item_of_refusal(table_, key_, error);
    if (item) return judge(std::move(*item));
    error_ = item.error();
  }
  switch (trouble_of(error_)) {
    case Trouble::kNone:
      return Failure(error_);
    case Trouble::kUnknown:
      return Outcome::kUnknown;
    case Trouble::kConflict:
    case Trouble::kThrottle:
      break;
  }
  return Outcome::kBusy;
}

Result<Acquisition::Outcome> Acquisition::judge(std::optional<Item> item) {
  if (!item) {
    sightings_.forget(key_);
    lock_.reset();
    place_.reset();
    return Outcome::kChanged;
  }
  lock_ = parse_lock(*item);
  item_ = std::move(item);
  if (!lock_) return no_lock();
  sightings_.note(key_, *lock_);
  if (lock_->permits != options_.permits) {
    return held(Code::kLimitsDisagree, fmt::format("has {} permits, not the {} asked for",
                                                   lock_->permits, options_.permits));
  }
  if (const LockEntry* mine = lock_->holder(id_)) {
    fence_ = mine->who.fence;
    counted_from_ = not_taken_at_.value_or(sent_at_);
    return Outcome::kTaken;
  }
  if (not_taken_at_) not_taken_at_ = sent_at_;
  const LockEntry* waiting = lock_->waiter(id_);
  place_ = waiting != nullptr ? std::optional(to_int64(waiting->who.fence)) : std::nullopt;
  beat_ = waiting != nullptr ? std::max(beat_, waiting->beat) : 1;
  return has_room(sightings_.expired(key_, id_)) ? Outcome::kChanged : Outcome::kHeld;
}

Failure Acquisition::held(Code code, std::string_view what) const {
  std::string message = fmt::format("{} {}", name_, what);
  if (lock_ && !lock_->holders.empty()) {
    const LockHolder& first = lock_->holders.front().who;
    message += fmt::format(
        "{} by {} (fence {}, lease of {} ms)", code == Code::kLimitsDisagree ? "; it is held" : "",
        first.user.empty() ? first.owner : first.user, to_int64(first.fence), first.lease.count());
    if (lock_->holders.size() > 1) {
      message += fmt::format(" and {} more", lock_->holders.size() - 1);
    }
  }
  auto detail = std::make_shared<ErrorDetail>();
  detail->item = item_;
  return Failure(Error{.code = code, .message = std::move(message), .detail = std::move(detail)});
}

bool Acquisition::give_up() {
  if (!place_ && !maybe_left_behind_) return false;
  const CallLimits limits(bounds_of_giving_back(options_.lease));
  auto lock = maybe_left_behind_ ? read_lock(table_, key_) : lock_;
  if (!lock || !*lock) return false;
  const LockEntry* held = (*lock)->holder(id_);
  const LockEntry* waiting = (*lock)->waiter(id_);
  if (held == nullptr && waiting == nullptr) return false;
  LockUpdate update(table_, key_);
  if (held != nullptr) {
    update.leave(kHolder, id_, to_int64(held->who.fence));
  } else {
    update.leave(kWaiter, id_, to_int64(waiting->who.fence));
  }
  const UpdateItemRequest request = update.request(ReturnValues::kNone);
  (void)with_retries(table_.options.retry, table_.time,
                     [&] { return table_.client.update_item(request); });
  return true;
}

}  // namespace stator::recipes
