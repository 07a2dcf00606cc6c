// SPDX-License-Identifier: Apache-2.0
// The timing of leases in virtual time: thousands of short histories of one lock, with the clocks,
// pauses, crashes and network faults that its page permits. Leases are renewed, shared, revoked,
// and their number changes. Background renewal is left to other tests, because its threads would
// not run in the order of the seed. STATOR_SEED repeats a history, STATOR_LEASE_RUNS sets their
// number.
#include <cstdio>
#include <optional>
#include <set>

#include "recipes/recipe_test.h"
#include "recipes/semaphore/lock_item.h"
#include "stator/recipes/semaphore.h"
#include "support/from_environment.h"
#include "support/virtual_world.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;
using std::chrono::nanoseconds;

constexpr const char* kLocks = "Locks";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kRuns = 300;
#else
constexpr uint64_t kRuns = 2'000;
#endif

struct Tally {
  int runs = 0;
  int leases = 0;
  int renewals = 0;
  int commits = 0;
  int refused_commits = 0;
  int lost = 0;
  int shared = 0;
  int broken = 0;
  int resized = 0;
};

// One lock and its contenders.
class History {
 public:
  History(Client& client, uint64_t seed, Tally& tally)
      : client_(client),
        random_(seed),
        tally_(tally),
        name_(std::to_string(seed)),
        lease_(random_.one_of<std::chrono::milliseconds>({100ms, 1s, 20s, 10min, 24h})),
        permits_(random_.chance(60) ? 1 : 2),
        most_permits_(permits_),
        resizes_(random_.chance(15)),
        close_(random_.chance(50)),
        end_(world_.now() + 2 * lease_) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(permits_) + 2; ++i) {
      actors_.push_back(std::make_unique<Actor>(*this, i));
    }
  }

  // Plays the history. Returns the first violation, or an empty string.
  std::string play() {
    std::vector<std::function<void()>> lives;
    lives.reserve(actors_.size());
    for (const auto& actor : actors_) lives.emplace_back([this, &actor] { live(*actor); });
    world_.run(lives);
    return wrong_;
  }

 private:
  struct Actor {
    Actor(History& history, std::size_t number)
        : index(number),
          time(history.world_, number, history.random_, nanoseconds(history.lease_) / 2),
          network(history.client_),
          permits(history.permits_) {
      history.connect(*this);
      start();
    }
    // Starts a new process. Otherwise endless waits last until the world ends, so that a seed
    // repeats them.
    void start() {
      constexpr std::chrono::milliseconds kForEver = std::chrono::hours(24 * 365 * 200);
      locks.emplace(network, SemaphoreOptions{.table = kLocks,
                                              .retry = {.max_attempts = 4, .backoff_base = 0ms},
                                              .backoff_base = kForEver,
                                              .backoff_max = kForEver,
                                              .time = &time});
    }
    std::size_t index;
    MachineTime time;
    FaultyClient network;
    std::optional<Semaphore> locks;
    Lease* lease = nullptr;  // while the actor can rely on it
    int permits = 0;         // as far as the actor knows
    bool dead = false;
    std::size_t committed = 0;              // number of commits before the current transaction
    std::set<int64_t> current_fences = {};  // at the same time
  };

  // ---- The network

  nanoseconds delay() {
    const int kind = static_cast<int>(random_.below(10));
    if (kind < 7) return random_.below(nanoseconds(lease_) / 10'000);
    return kind < 9 ? random_.below(nanoseconds(lease_) / 50)
                    : random_.below(nanoseconds(lease_) * 6 / 5);
  }

  void connect(Actor& actor) {
    actor.network.before([this, &actor](std::string_view operation, int) {
      // Transactions are sent by commits only.
      if (operation == "TransactWriteItems" && actor.lease->remaining().count() == 0) {
        fail("a commit was sent after the end of its lease");
      }
      world_.wait_until(actor.index, world_.now() + delay());
      const Fate fate = fate_of(actor, operation);
      if (operation == "TransactWriteItems") look(actor);
      return fate;
    });
    actor.network.after([this, &actor](std::string_view operation) {
      if (operation == "TransactWriteItems") judge_commits(actor.committed, actor.current_fences);
      world_.wait_until(actor.index, world_.now() + delay());
    });
  }

  Fate fate_of(Actor& actor, std::string_view operation) {
    if (actor.dead) return lose_request();
    if (random_.chance(7)) deliver_a_copy_later(actor, operation);
    const int64_t kind = random_.below(100);
    if (kind < 6) return lose_request();
    if (kind < 12) return lose_reply();
    return kind < 15 ? repeat() : pass();
  }

  void deliver_a_copy_later(Actor& actor, std::string_view operation) {
    const nanoseconds when = world_.now() + random_.below(nanoseconds(lease_) * 3);
    if (operation == "UpdateItem") {
      world_.at(when,
                [this, copy = actor.network.latest_update()] { (void)client_.update_item(copy); });
    } else if (operation == "TransactWriteItems") {
      world_.at(when, [this, copy = actor.network.latest_transaction()] {
        const std::size_t committed = commits().size();
        const std::set<int64_t> current = current_fences();
        (void)client_.transact_write_items(copy);
        judge_commits(committed, current);
      });
    }
  }

  // ---- Invariants

  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  std::optional<recipes::StoredLock> stored_lock() {
    const auto item = client_.get_item({.table = kLocks, .key = {{"pk", "LOCK#" + name_}}});
    return item && item->item ? recipes::parse_lock(*item->item) : std::nullopt;
  }
  std::set<int64_t> current_fences() {
    const auto lock = stored_lock();
    std::set<int64_t> fences;
    if (!lock) return fences;
    for (const auto& holder : lock->holders) fences.insert(to_int64(holder.who.fence));
    return fences;
  }
  std::vector<int64_t> commits() {
    const auto item = client_.get_item({.table = kLocks, .key = {{"pk", "commits " + name_}}});
    std::vector<int64_t> fences;
    if (!item || !item->item) return fences;
    for (const AttributeValue& fence : *item->item->at("fences").get_if<List>()) {
      fences.push_back(fence.get_if<Number>()->to_int64().value());
    }
    return fences;
  }
  void look(Actor& actor) {
    actor.committed = commits().size();
    actor.current_fences = current_fences();
  }
  // Checks the commits since then, which must have current fencing tokens.
  void judge_commits(std::size_t committed, const std::set<int64_t>& current) {
    const std::vector<int64_t> now = commits();
    for (std::size_t i = committed; i < now.size(); ++i) {
      if (!current.contains(now[i]))
        fail("a commit of fence " + std::to_string(now[i]) + " was late");
    }
  }

  void judge_fence(Fence fence, int64_t highest_before) {
    const int64_t number = to_int64(fence);
    if (number <= highest_before) {
      fail("fence " + std::to_string(number) + " came after " + std::to_string(highest_before));
    }
    if (!fences_.insert(number).second) fail("fence " + std::to_string(number) + " came twice");
  }

  // The leases that nobody has revoked.
  void judge_holders() {
    int holders = 0;
    std::string text;
    for (const auto& actor : actors_) {
      if (actor->lease == nullptr || actor->lease->remaining().count() == 0) continue;
      if (breaking_ > 0 || to_int64(actor->lease->fence()) <= revoked_) continue;
      ++holders;
      text += " fence " + std::to_string(to_int64(actor->lease->fence())) + " has " +
              std::to_string(actor->lease->remaining().count()) + " ns left;";
    }
    if (holders > most_permits_) fail(std::to_string(holders) + " holders:" + text);
  }

  // ---- Actions

  void pause(Actor& actor, nanoseconds most) {
    world_.wait_until(actor.index, world_.now() + random_.below(most));
  }

  void live(Actor& actor) {
    while (world_.now() < end_ && wrong_.empty()) {
      pause(actor, close_ ? lease_ / 5'000 : lease_ / 4);
      if (random_.chance(5)) break_lock(actor);
      if (resizes_ && random_.chance(20)) set_permits(actor);
      const int64_t highest = highest_fence();
      auto lease = acquire(actor);
      if (!lease) continue;
      ++tally_.leases;
      actor.lease = &*lease;
      judge_fence(lease->fence(), highest);
      judge_holders();
      hold(actor, *lease);
      actor.lease = nullptr;
      actor.dead = random_.chance(30);  // its release is lost
      lease = stator::fail(Code::kLost, "let go");
      if (actor.dead) actor.start();
      actor.dead = false;
    }
  }

  int64_t highest_fence() const { return fences_.empty() ? 0 : *fences_.rbegin(); }

  Result<Lease> acquire(Actor& actor) {
    auto lease = actor.locks->acquire(
        name_, {.permits = actor.permits,
                .lease = lease_,
                .wait = random_.chance(70) ? random_.below(nanoseconds(lease_) * 3) : kNoWait,
                .order = random_.chance(30) ? Order::kFifo : Order::kAny,
                .reentry = reentry_});
    if (!lease && lease.error().code == Code::kLimitsDisagree) {
      actor.permits = Semaphore::state_in(lease.error())->permits;
    }
    return lease;
  }

  void hold(Actor& actor, Lease& lease) {
    for (int64_t acts = random_.below(5); acts > 0 && wrong_.empty(); --acts) {
      pause(actor, random_.chance(close_ ? 60 : 15) ? lease_ * 3 : lease_ / 2);
      if (random_.chance(40)) {
        const auto renewed = lease.renew();
        if (renewed) ++tally_.renewals;
        if (!renewed && renewed.error().code == Code::kLost) ++tally_.lost;
        judge_holders();
      } else if (reentry_ != Reentry::kNone && random_.chance(30)) {
        share(actor, lease);
      } else {
        const auto committed = lease.commit(
            {.items = {
                 {.action = TransactAction::kUpdate,
                  .table = kLocks,
                  .item = {{"pk", "commits " + name_}},
                  .update = "SET fences = list_append(if_not_exists(fences, :none), :mine)",
                  .values = Values{{":none", List{}}, {":mine", List{to_int64(lease.fence())}}}}}});
        ++(committed ? tally_.commits : tally_.refused_commits);
      }
    }
  }

  // Acquires again, as a function does that needs the lock and is called with it.
  void share(Actor& actor, const Lease& lease) {
    const bool held = lease.held();
    const int64_t highest = highest_fence();
    const auto second = actor.locks->acquire(
        name_, {.permits = actor.permits, .lease = lease_, .reentry = reentry_});
    if (!second) return;
    if (second->fence() == lease.fence()) {
      ++tally_.shared;
      if (!held) fail("a lease was shared after its end");
    } else {
      judge_fence(second->fence(), highest);  // the first one had ended
    }
    judge_holders();
  }

  void break_lock(Actor& actor) {
    const int64_t highest = highest_fence();
    ++breaking_;
    const auto fence = actor.locks->break_lock(name_);
    --breaking_;
    // A late copy of a request revokes no later lease.
    if (const auto lock = stored_lock()) revoked_ = std::max(revoked_, lock->fence);
    if (!fence) return;
    ++tally_.broken;
    judge_fence(*fence, highest);
  }

  void set_permits(Actor& actor) {
    const int permits = 1 + static_cast<int>(random_.below(int64_t{3}));
    most_permits_ = std::max(most_permits_, permits);
    if (actor.locks->set_permits(name_, permits)) ++tally_.resized;
  }

  Client& client_;
  SeededRandom random_;
  Tally& tally_;
  VirtualWorld world_;
  const std::string name_;
  const std::chrono::milliseconds lease_;
  const int permits_;  // at first
  int most_permits_;   // so far
  const bool resizes_;
  const Reentry reentry_ = random_.one_of({Reentry::kNone, Reentry::kThread, Reentry::kObject});
  // True: the others poll as soon as an actor has the lock, and holders pause more often. Then
  // takeovers come as close to the end of a lease as possible.
  const bool close_;
  const nanoseconds end_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::set<int64_t> fences_;
  int breaking_ = 0;     // number of calls of break_lock()
  int64_t revoked_ = 0;  // the highest fencing token that they can have revoked
  std::string wrong_;
};

TEST(LeaseSimulation, KeepsTheGuaranteesOfTheSemaphore) {
  const auto [first, runs] = seeds_from_environment("STATOR_LEASE_RUNS", kRuns);
  const Home home = open_home("memory");
  ASSERT_OK(create_table_if_missing(*home.client, Semaphore::table_definition({.table = kLocks})));
  Tally tally;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    ASSERT_EQ(History(*home.client, seed, tally).play(), "") << "STATOR_SEED=" << seed;
    ++tally.runs;
  }
  std::printf("%d runs, %d leases, %d renewals, %d lost, %d commits, %d refused\n", tally.runs,
              tally.leases, tally.renewals, tally.lost, tally.commits, tally.refused_commits);
  std::printf("%d shared, %d broken, %d changes of permits\n", tally.shared, tally.broken,
              tally.resized);
  if (runs < 100) return;
  // Otherwise the histories would not test enough.
  EXPECT_GT(tally.lost, tally.runs / 10);
  EXPECT_GT(tally.refused_commits, tally.runs / 10);
  EXPECT_GT(tally.renewals, tally.runs);
  EXPECT_GT(tally.commits, tally.runs);
  EXPECT_GT(tally.shared, tally.runs / 10);
  EXPECT_GT(tally.broken, tally.runs / 10);
  EXPECT_GT(tally.resized, tally.runs / 20);
}

}  // namespace
}  // namespace stator
