// SPDX-License-Identifier: Apache-2.0
// stator lock: run a command while holding a named lock, and see who holds one.
#include <CLI/CLI.hpp>
#include <csignal>
#include <ctime>

#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/recipe_command.h"
#include "stator/recipes/semaphore.h"

namespace stator::cli {
namespace {

using std::chrono::milliseconds;

struct Flags : RecipeFlags {
  std::string name;
  std::string user;
  std::vector<std::string> command;
  double lease_seconds = 20;
  double wait_seconds = -1;
  double grace_seconds = 5;
};

milliseconds milliseconds_of(double seconds) {
  return milliseconds(static_cast<int64_t>(seconds * 1000));
}

int run(const Flags& flags, const std::function<int(Semaphore&)>& action) {
  const SemaphoreOptions options{.table = flags.table};
  return with_tables(flags, {Semaphore::table_definition(options)}, [&](Client& client) {
    Semaphore semaphore(client, options);
    return action(semaphore);
  });
}

// A signal that came in for this process and is meant for the command.
std::optional<int> pending_signal(const sigset_t& signals) {
  const timespec now = {};
  const int signal = sigtimedwait(&signals, nullptr, &now);
  return signal > 0 ? std::optional<int>(signal) : std::nullopt;
}

// Asks the command to end, and ends it where it does not.
void end_command(ChildProcess& child, milliseconds grace) {
  child.send(SIGTERM);
  if (!child.wait(grace)) {
    child.send(SIGKILL);
    child.wait(grace);
  }
}

// Renews the lease three times in its length while the command runs.
int watch(ChildProcess& child, Lease& lease, const Flags& flags, const sigset_t& signals) {
  const milliseconds length = milliseconds_of(flags.lease_seconds);
  const milliseconds look = std::min(milliseconds(200), length / 10);
  std::chrono::nanoseconds renew_below = length - length / 3;
  for (;;) {
    if (const auto status = child.wait(look)) return *status;
    while (const auto signal = pending_signal(signals)) child.send(*signal);
    if (lease.remaining() > renew_below) continue;
    const auto renewed = lease.renew();
    // A renewal that did not get through is tried again until the lease is over.
    if (!renewed && (renewed.error().code == Code::kLost || !lease.held())) {
      end_command(child, milliseconds_of(flags.grace_seconds));
      return report(
          {.code = Code::kLost,
           .message = "the lock '" + flags.name + "' was lost, so the command was ended"});
    }
  }
}

int run_locked(const Flags& flags) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&signals, signal);
  // Threads that are started from here on, a directory's for one, must not take what is meant for
  // the command. Whoever only waits for the lock is ended by a signal as usual.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return run(flags, [&](Semaphore& semaphore) {
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    auto lease = semaphore.acquire(
        flags.name, {.lease = milliseconds_of(flags.lease_seconds),
                     .wait = flags.wait_seconds < 0
                                 ? kWaitForEver
                                 : std::chrono::nanoseconds(milliseconds_of(flags.wait_seconds)),
                     .user = flags.user});
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    if (!lease) return report(lease.error());
    auto child = ChildProcess::start(
        flags.command,
        {"STATOR_LOCK=" + flags.name, "STATOR_FENCE=" + std::to_string(to_int64(lease->fence()))});
    if (!child) return report(child.error());
    const int status = watch(*child, *lease, flags, signals);
    if (const auto released = lease->release(); !released && status == kSuccess) {
      return report(released.error());
    }
    return status;
  });
}

int show(const Flags& flags) {
  return run(flags, [&](Semaphore& semaphore) {
    const auto holder = semaphore.holder(flags.name);
    if (!holder) return report(holder.error());
    if (!*holder) {
      answer(flags, "free", {{"held", false}});
      return kSuccess;
    }
    const LockHolder& found = **holder;
    answer(flags,
           "held\tby " + (found.user.empty() ? found.owner : found.user) + "\tsince " +
               found.acquired_at.text() + "\tfence " + std::to_string(to_int64(found.fence)),
           {{"held", true},
            {"user", found.user},
            {"owner", found.owner},
            {"since", found.acquired_at.text()},
            {"lease_ms", found.lease.count()},
            {"fence", to_int64(found.fence)}});
    return kSuccess;
  });
}

}  // namespace

void add_lock(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<Flags>();
  CLI::App* lock = app.add_subcommand("lock", "Only one at a time, on any number of machines");
  lock->require_subcommand(1);
  CLI::App* run_command =
      add_action(*lock, "run",
                 "Run a command while holding a lock: run NAME -- COMMAND …\n"
                 "The exit status is the command's, or 128 and the signal that ended it.",
                 invocation, [flags] { return run_locked(*flags); });
  add_recipe_flags(*run_command, *flags, "Locks");
  run_command->add_option("name", flags->name, "The lock")->required();
  run_command
      ->add_option("command", flags->command,
                   "The command; it has $STATOR_LOCK, the lock's name, and $STATOR_FENCE, a "
                   "number that grows with each holder")
      ->type_name("TEXT")
      ->required();
  run_command->add_option("--user", flags->user, "Who it is, for people");
  run_command
      ->add_option("--lease", flags->lease_seconds,
                   "Seconds without renewal until others may take it")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 86'400.0).description(""))
      ->capture_default_str();
  run_command->add_option("--wait", flags->wait_seconds, "Seconds to wait for it (for ever)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e9).description(""));
  run_command
      ->add_option("--grace", flags->grace_seconds,
                   "Seconds between SIGTERM and SIGKILL when the lock is lost")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3'600.0).description(""))
      ->capture_default_str();
  CLI::App* show_command =
      add_action(*lock, "show", "Who holds a lock", invocation, [flags] { return show(*flags); });
  add_recipe_flags(*show_command, *flags, "Locks");
  show_command->add_option("name", flags->name, "The lock")->required();
}

}  // namespace stator::cli
