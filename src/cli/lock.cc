// SPDX-License-Identifier: Apache-2.0
// stator lock: runs a command while holding a named lock, and shows and changes locks.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <stop_token>
#include <thread>

#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/recipe_command.h"
#include "stator/recipes/semaphore.h"

namespace stator::cli {
namespace {

// Exit statuses of `lock run` other than the command's: a shell's if the command cannot be run,
// otherwise those of sysexits.h.
constexpr int kUnavailableStatus =
    69;  // the lock cannot be taken, for a reason other than a holder
constexpr int kLostStatus = 75;
constexpr int kNotExecutable = 126;
constexpr int kCommandNotFound = 127;

struct LockFlags : RecipeFlags {
  std::string name;
  std::string user;
  std::string owner;
  std::string cursor;
  std::vector<std::string> command;
  std::chrono::milliseconds lease{20'000};
  std::chrono::milliseconds wait{-1};  // negative: without limit
  std::chrono::milliseconds grace{5'000};
  int conflict_status = kFailure;
  int permits = 1;
  int limit = 100;
  bool fifo = false;
  bool expired = false;
};

int with_semaphore(const LockFlags& flags, Access access,
                   const std::function<int(Semaphore&)>& action) {
  const SemaphoreOptions options{.table = flags.table};
  return with_tables(flags, access, {Semaphore::table_definition(options)}, [&](Client& client) {
    Semaphore semaphore(client, options);
    return action(semaphore);
  });
}

// The signals that this process receives for its command, and SIGCHLD. Signals that are ignored
// (nohup) remain ignored by both processes.
sigset_t forwarded_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

// The next signal within `patience`; 0 if none arrived.
int next_signal(const sigset_t& signals, std::chrono::milliseconds patience) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(patience);
  const timespec most{.tv_sec = seconds.count(),
                      .tv_nsec = std::chrono::nanoseconds(patience - seconds).count()};
  return std::max(0, sigtimedwait(&signals, nullptr, &most));
}

// Ends this process by a signal, or its whole group.
void end_by(int signal, bool whole_group) {
  kill(whole_group ? 0 : getpid(), signal);
  const sigset_t signals = forwarded_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

// Ends the command. Before the end of the lease, which is `left`, nobody else can have the lock.
int end_command(ChildProcess& child, const LockFlags& flags, std::chrono::milliseconds left) {
  const bool has_ended = child.status().has_value();
  child.end(left.count() > 0 ? std::min(flags.grace, left * 9 / 10) : flags.grace);
  const char* what = " was lost, so the command was ended";
  if (has_ended) what = " was lost before the command ended";
  if (left.count() > 0) what = " could not be renewed, so the command was ended";
  (void)report({.code = Code::kLost, .message = "the lock '" + flags.name + "'" + what});
  return kLostStatus;
}

// The lease renews itself; this watches the command and the end of the lease. If renewals fail
// until only the grace is left of the lease, or a sixth of it, the command is ended while the lease
// is still valid. The first renewal starts when two thirds are left and takes up to a third, so one
// that hangs leaves time for a second. A stopped command resumes only if the lease is still valid
// then.
int watch(ChildProcess& child, Lease& lease, const LockFlags& flags, const sigset_t& signals) {
  using std::chrono::nanoseconds;
  const std::chrono::milliseconds look = std::min(std::chrono::milliseconds(200), flags.lease / 10);
  const nanoseconds reserve = std::min<nanoseconds>(flags.grace + look, flags.lease / 6);
  int previous = 0;
  for (;;) {
    const int signal = next_signal(signals, look);
    const auto status = child.status();
    const auto stop = child.take_stop();
    const bool resumes = stop && child.settle_stop(*stop);
    // Nothing was renewed while this process was stopped.
    if (resumes && lease.held() && lease.remaining() <= reserve) (void)lease.renew();
    const nanoseconds left = lease.remaining();
    // If the lock is lost, processes that the command has left must end too.
    if (status && left.count() > 0) return *status;
    if (left <= reserve) {
      return end_command(child, flags, std::chrono::ceil<std::chrono::milliseconds>(left));
    }
    // Signals that arrive while the command is stopped must be pending when it resumes. Just after
    // that, the command might already repeat its read, which a shell's handler does not interrupt.
    // SIGCONT cancels a pending stop. So SIGTSTP is sent after it, also one that arrived just
    // before the command's read from the terminal stopped it.
    const bool forwards = signal > 0 && signal != SIGCHLD;
    if (forwards && signal != SIGTSTP) child.send(signal);
    if (resumes) child.resume();
    if (signal == SIGTSTP || (resumes && previous == SIGTSTP)) child.send(SIGTSTP);
    previous = signal;
  }
}

// If a signal arrives while waiting for the lock, leaves the queue and ends by the signal.
class Interruption {
 public:
  explicit Interruption(const sigset_t& signals)
      : watcher_([this, signals](const std::stop_token& end) {
          while (!end.stop_requested() && signal_ == 0) {
            const int signal = next_signal(signals, std::chrono::milliseconds(100));
            if (signal == SIGTSTP) suspend(false);
            const bool harmless =
                signal == SIGTSTP || signal == SIGCONT || signal == SIGWINCH || signal == SIGCHLD;
            if (!harmless) signal_ = signal;
          }
          if (signal_ > 0) stop_.request_stop();
        }) {}
  std::stop_token token() const { return stop_.get_token(); }
  // Ends the watch. Returns the signal that arrived, or 0.
  int end() {
    watcher_.request_stop();
    watcher_.join();
    return signal_;
  }

 private:
  std::stop_source stop_;
  int signal_ = 0;  // written by the watcher until it is joined
  std::jthread watcher_;
};

Result<Lease> acquire(Semaphore& semaphore, const LockFlags& flags, const sigset_t& signals) {
  Interruption interruption(signals);
  AcquireOptions options{.permits = flags.permits,
                         .lease = flags.lease,
                         .user = flags.user,
                         .order = flags.fifo ? Order::kFifo : Order::kAny,
                         .renewal = Renewal::kBackground};
  // Tries without waiting first, to report the holder.
  auto lease = semaphore.acquire(flags.name, options, interruption.token());
  if (!lease && lease.error().code == Code::kHeld && flags.wait.count() != 0) {
    std::fprintf(stderr, "stator: waiting: %s\n", one_line(lease.error().message).c_str());
    options.wait = flags.wait.count() < 0 ? kWaitForEver : std::chrono::nanoseconds(flags.wait);
    lease = semaphore.acquire(flags.name, options, interruption.token());
  }
  if (const int signal = interruption.end(); signal > 0) {
    if (lease) (void)lease->release();
    end_by(signal, false);
  }
  return lease;
}

int report_not_acquired(const Error& error, const LockFlags& flags) {
  const bool conflict = error.code == Code::kHeld || error.code == Code::kTimeout;
  const int status = report(error);
  if (status == kUsage) return kUsage;
  return conflict ? flags.conflict_status : kUnavailableStatus;
}

int run_locked(const LockFlags& flags) {
  // Threads that are started from here on must not receive signals meant for the command.
  const sigset_t signals = forwarded_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  int interrupt = 0;
  bool opened = false;
  const int result = with_semaphore(flags, Access::kWrite, [&](Semaphore& semaphore) {
    opened = true;
    auto lease = acquire(semaphore, flags, signals);
    if (!lease) return report_not_acquired(lease.error(), flags);
    auto child = ChildProcess::start(
        flags.command,
        {"STATOR_LOCK=" + flags.name, "STATOR_FENCE=" + std::to_string(to_int64(lease->fence()))});
    if (!child) {
      (void)report(child.error());
      return child.error().code == Code::kNotFound ? kCommandNotFound : kNotExecutable;
    }
    const int status = watch(*child, *lease, flags, signals);
    for (const int signal : {SIGINT, SIGQUIT}) {
      if (child->had_terminal() && status == kSignalBase + signal) interrupt = signal;
    }
    if (const auto released = lease->release(); !released && status == kSuccess) {
      return report(released.error());
    }
    return status;
  });
  // The terminal sent the signal only to the command, but a script that runs this must end too.
  if (interrupt > 0) end_by(interrupt, true);
  return !opened && result == kFailure ? kUnavailableStatus : result;
}

// One line for each holder, then one for each queued waiter.
void print_state(const LockFlags& flags, const LockState& state, bool named) {
  const auto line = [&](const LockHolder& one, bool held) {
    std::string text = named ? state.name + "\t" : std::string();
    text += std::string(held ? "held" : "waits") + "\tby " +
            (one.user.empty() ? one.owner : one.user) + "\tsince " + one.acquired_at.text() +
            (held ? "\tfence " : "\tplace ") + std::to_string(to_int64(one.fence));
    const bool expired = one.overdue(Time::now());
    if (expired) text += "\texpired";
    Item item{{"held", held},
              {"user", one.user},
              {"owner", one.owner},
              {"since", one.acquired_at.text()},
              {"lease_ms", one.lease.count()},
              {"permits", state.permits},
              {held ? "fence" : "place", to_int64(one.fence)}};
    if (named) item.emplace("name", state.name);
    if (expired) item.emplace("expired", true);
    print_result(flags, text, item);
  };
  for (const LockHolder& holder : state.holders) line(holder, true);
  for (const LockHolder& waiter : state.waiters) line(waiter, false);
}

int show_lock(const LockFlags& flags) {
  return with_semaphore(flags, Access::kRead, [&](Semaphore& semaphore) {
    const auto state = semaphore.state(flags.name);
    if (!state) return report(state.error());
    if (state->holders.empty()) print_result(flags, "free", {{"held", false}});
    print_state(flags, *state, false);
    return kSuccess;
  });
}

int list_locks(const LockFlags& flags) {
  return with_semaphore(flags, Access::kRead, [&](Semaphore& semaphore) {
    const auto found =
        semaphore.list({.user = flags.user.empty() ? std::nullopt : std::optional(flags.user),
                        .overdue = flags.expired},
                       {.limit = flags.limit, .cursor = flags.cursor});
    if (!found) return report(found.error());
    for (LockState state : found->items) {
      if (!flags.user.empty() || flags.expired) state.waiters.clear();
      print_state(flags, state, true);
    }
    print_next(flags, found->next);
    return kSuccess;
  });
}

int break_lock(const LockFlags& flags) {
  return with_semaphore(flags, Access::kWrite, [&](Semaphore& semaphore) {
    const auto fence = semaphore.break_lock(
        flags.name, flags.owner.empty() ? std::nullopt : std::optional(flags.owner));
    if (!fence) return report(fence.error());
    print_result(flags, "broken\tfence " + std::to_string(to_int64(*fence)),
                 {{"fence", to_int64(*fence)}});
    return kSuccess;
  });
}

int set_permits(const LockFlags& flags) {
  return with_semaphore(flags, Access::kWrite, [&](Semaphore& semaphore) {
    const auto done = semaphore.set_permits(flags.name, flags.permits);
    if (!done) return report(done.error());
    print_result(flags, "permits\t" + std::to_string(flags.permits), {{"permits", flags.permits}});
    return kSuccess;
  });
}

void add_inspection(CLI::App& lock, Invocation& invocation,
                    const std::shared_ptr<LockFlags>& flags) {
  CLI::App* ls = add_action(lock, "ls", "List holders and queues", invocation,
                            [flags] { return list_locks(*flags); });
  ls->add_option("--user", flags->user, "Only locks that this user holds");
  ls->add_flag("--expired", flags->expired,
               "Only holders whose lease has expired by the wall clocks of their and this machine");
  ls->add_option("--limit", flags->limit, "Locks per page")->capture_default_str();
  ls->add_option("--cursor", flags->cursor, "Position from an earlier page");
  CLI::App* show_command = add_action(lock, "show", "Show the holders of a lock", invocation,
                                      [flags] { return show_lock(*flags); });
  CLI::App* break_command =
      add_action(lock, "break", "Take a lock from its holders; raises the fencing token",
                 invocation, [flags] { return break_lock(*flags); });
  break_command->add_option("--owner", flags->owner,
                            "Only from this owner, as `show --json` prints it");
  CLI::App* permits = add_action(lock, "permits", "Change how many can hold a lock", invocation,
                                 [flags] { return set_permits(*flags); });
  for (CLI::App* command : {ls, show_command, break_command, permits}) {
    add_recipe_flags(*command, *flags, "Locks");
    if (command != ls) command->add_option("name", flags->name, "The lock")->required();
  }
  permits->add_option("permits", flags->permits, "Number of holders, 1 to 1,000")->required();
}

}  // namespace

void add_lock(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<LockFlags>();
  CLI::App* lock =
      app.add_subcommand("lock", "Locks: limit how many processes do something at a time");
  lock->require_subcommand(1);
  CLI::App* run_command = add_action(
      *lock, "run",
      "Run a command while holding a lock: run NAME -- COMMAND …\n"
      "Exit status: the command's, or 128 plus the signal that ended it; 1 (see\n"
      "--conflict-exit-code) if the lock is still held after --wait, 69 if it cannot be\n"
      "taken for another reason, 75 if it was lost, 126 if the command cannot be run,\n"
      "127 if it does not exist.",
      invocation, [flags] { return run_locked(*flags); });
  add_recipe_flags(*run_command, *flags, "Locks");
  run_command->add_option("name", flags->name, "The lock")->required();
  run_command
      ->add_option(
          "command", flags->command,
          "The command; its environment has the lock's name in STATOR_LOCK and the fencing "
          "token in STATOR_FENCE")
      ->type_name("TEXT")
      ->required();
  run_command->add_option("--user", flags->user, "Display name of the holder");
  using std::chrono::milliseconds;
  add_duration(*run_command, "--lease", flags->lease,
               "Time without renewal after which others can take the lock", milliseconds(100),
               kDay);
  add_duration(*run_command, "--wait", flags->wait, "Longest time to wait for the lock",
               milliseconds(0), 10'000 * kDay)
      ->default_str("without limit");
  add_duration(*run_command, "--grace", flags->grace,
               "Time between SIGTERM and SIGKILL if the lock is lost; if it cannot be renewed, at "
               "most a sixth of the lease, before its end",
               milliseconds(0), std::chrono::hours(1));
  run_command
      ->add_option("-E,--conflict-exit-code", flags->conflict_status,
                   "Exit status if the lock is still held after --wait")
      ->type_name("STATUS")
      ->check(CLI::Range(0, 255).description(""))
      ->capture_default_str();
  run_command
      ->add_option("--permits", flags->permits, "Number of concurrent holders, the same for all")
      ->capture_default_str();
  run_command->add_flag("--fifo", flags->fifo, "Wait in a queue");
  add_inspection(*lock, invocation, flags);
}

}  // namespace stator::cli
