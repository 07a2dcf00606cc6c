// SPDX-License-Identifier: Apache-2.0
// stator lock: the command that it runs, holders and waiters.
#include <sys/stat.h>

#include <fstream>

#include "cli/stator_program.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Of a script, after a trap. dash can miss a signal that arrives before its `wait`, but runs a trap
// between commands.
constexpr const char* kWaits = "; echo ready; while :; do sleep 0.02; done";

class LockCommand : public CommandTest {
 protected:
  Ran locked(const std::string& script) {
    return stator({"lock", "run", "nightly", "--", "sh", "-c", script});
  }
};
STATOR_ON_DATA_AND_ENDPOINT(LockCommand);

TEST_P(LockCommand, ReturnsTheExitStatusOfItsCommand) {
  EXPECT_EQ(locked("exit 0").status, 0);
  EXPECT_EQ(locked("exit 7").status, 7);
  EXPECT_EQ(locked("kill -KILL $$").status, 128 + SIGKILL);
  const Ran ran = locked("echo out; echo err >&2; exit 3");
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
  EXPECT_THAT(stator({"lock", "show", "nightly"}), Prints("free\n"));
}

TEST_P(LockCommand, PassesTheLockAndAGrowingFencingTokenToItsCommand) {
  EXPECT_THAT(locked("echo $STATOR_LOCK $STATOR_FENCE"), Prints("nightly 1\n"));
  EXPECT_THAT(locked("echo $STATOR_LOCK $STATOR_FENCE"), Prints("nightly 2\n"));
  EXPECT_THAT(stator({"lock", "run", "other", "--", "sh", "-c", "echo $STATOR_LOCK $STATOR_FENCE"}),
              Prints("other 1\n"));
}

TEST_P(LockCommand, ReportsErrors) {
  const auto expect_failure = [&](std::vector<std::string> arguments, int status,
                                  const std::string& reason) {
    const Ran ran = stator(std::move(arguments));
    EXPECT_EQ(ran.status, status) << reason;
    EXPECT_THAT(ran.err, AllOf(MatchesRegex("stator: [^\n]*\n"), HasSubstr(reason)));
  };
  expect_failure({"lock", "run", "n"}, 2, "command is required (see stator lock run --help)");
  expect_failure({"lock", "run", "n", "--lease", "0", "--", "true"}, 2,
                 "--lease: '0' is not between 100ms");
  expect_failure({"lock", "run", "n", "--wait", "-1", "--", "true"}, 2,
                 "--wait: invalid duration '-1'");
  expect_failure({"lock", "run", "", "--", "true"}, 2, "name: must not be empty");
  expect_failure({"lock", "run", "n", "-E", "256", "--", "true"}, 2, "--conflict-exit-code: Value");
  expect_failure({"lock", "run", "n", "--", "/no/such/program"}, 127,
                 "could not run '/no/such/program': No such file or directory");
  expect_failure({"lock", "run", "n", "--", "/etc/passwd"}, 126,
                 "could not run '/etc/passwd': Permission denied");
  // A command that could not run does not keep the lock.
  EXPECT_THAT(stator({"lock", "show", "n"}), Prints("free\n"));
}

// A command that holds the lock. It prints a first line, and ends when the pipe is written to.
class Holder {
 public:
  Holder(const Where& where, std::vector<std::string> flags) : fifo_(where.path("fifo")) {
    EXPECT_EQ(mkfifo(fifo_.c_str(), S_IRUSR | S_IWUSR), 0);
    std::vector<std::string> arguments = {"lock", "run", "nightly"};
    for (const std::string& flag : where.flags()) arguments.push_back(flag);
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(),
                     {"--", "sh", "-c", "echo held; read line < \"$0\"; exit 5", fifo_});
    process_ = std::make_unique<Process>(stator_command(std::move(arguments)));
    EXPECT_EQ(process_->read_line(), "held");
  }

  int release() {
    std::ofstream(fifo_) << "go\n";
    return process_->wait();
  }
  Process& process() { return *process_; }

 private:
  std::string fifo_;
  std::unique_ptr<Process> process_;
};

TEST(LockCommandOfAServer, RefusesASecondHolderThatDoesNotWait) {
  Where where(true);
  Holder holder(where, {"--user", "ann"});
  const std::vector<std::string> flags = where.flags();
  expect_refusal({"lock", "run", "nightly", flags[0], flags[1], "--wait", "0", "--", "echo", "no"},
                 1, "nightly is held by ann (fence 1");
  const Ran waited = run_stator(
      {"lock", "run", "nightly", flags[0], flags[1], "--wait", "100ms", "--", "echo", "no"});
  EXPECT_EQ(waited.status, 1);
  EXPECT_THAT(waited.err, MatchesRegex("stator: waiting: nightly is held by ann[^\n]*\n"
                                       "stator: nightly is still held by ann[^\n]*\n"));
  expect_refusal(
      {"lock", "run", "nightly", flags[0], flags[1], "--wait", "0", "-E", "9", "--", "echo", "no"},
      9, "nightly is held by ann");
  const Ran refused = run_stator(
      {"lock", "run", "nightly", flags[0], flags[1], "--wait", "0", "--json", "--", "echo", "no"});
  EXPECT_THAT(refused.err,
              MatchesRegex("\\{\"error\":\"Held\",\"message\":\"nightly is held by ann[^\n]*\","
                           "\"retryable\":false\\}\n"));
  EXPECT_THAT(run_stator({"lock", "show", "nightly", flags[0], flags[1]}).out,
              MatchesRegex("held\tby ann\tsince [^\t]+\tfence 1\n"));
  EXPECT_THAT(run_stator({"lock", "show", "nightly", flags[0], flags[1], "--json"}).out,
              MatchesRegex("\\{\"fence\":1,\"held\":true,\"lease_ms\":20000,\"owner\":\"[^\"]+\","
                           "\"permits\":1,\"since\":\"[^\"]+\",\"user\":\"ann\"\\}\n"));
  EXPECT_EQ(holder.release(), 5);
  EXPECT_THAT(run_stator({"lock", "show", "nightly", flags[0], flags[1], "--json"}),
              Prints("{\"held\":false}\n"));
}

TEST(LockCommandOfAServer, WaitsForTheLockWithoutALimitByDefault) {
  Where where(true);
  Holder holder(where, {});
  const std::vector<std::string> flags = where.flags();
  Process second(stator_command({"lock", "run", "nightly", flags[0], flags[1], "--", "sh", "-c",
                                 "echo second $STATOR_FENCE"}));
  EXPECT_EQ(holder.release(), 5);
  EXPECT_EQ(second.wait(), 0);
  EXPECT_THAT(second.out(), MatchesRegex("second [0-9]+\n"));
}

TEST(LockCommandOfADirectory, RefusesASecondHolderAtOnce) {
  Where where(false);
  Holder holder(where, {});
  expect_refusal({"lock", "run", "nightly", "--data", where.path("data"), "--", "echo", "no"}, 69,
                 "is in use by another process");
  EXPECT_EQ(holder.release(), 5);
}

TEST_P(LockCommand, PassesSignalsOn) {
  for (const auto& [signal, name] : {std::pair{SIGTERM, "TERM"},
                                     {SIGINT, "INT"},
                                     {SIGHUP, "HUP"},
                                     {SIGUSR1, "USR1"},
                                     {SIGUSR2, "USR2"}}) {
    std::vector<std::string> arguments = {"lock", "run", "nightly"};
    for (const std::string& flag : where_.flags()) arguments.push_back(flag);
    const std::string script = "trap 'echo got; exit 9' " + std::string(name) + kWaits;
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    Process process(stator_command(std::move(arguments)));
    EXPECT_EQ(process.read_line(), "ready");
    process.send_signal(signal);
    EXPECT_EQ(process.wait(), 9) << name;
    EXPECT_EQ(process.out(), "got\n");
  }
}

TEST(LockCommandOfAServer, EndsItsCommandBeforeTheEndOfALeaseThatCannotBeRenewed) {
  const TempDir temporary;
  auto server = std::make_unique<Serving>(std::vector<std::string>{"--memory"});
  Process process(stator_command({"lock", "run", "nightly", "--endpoint", server->url(), "--lease",
                                  "15", "--grace", "10", "--", "sh", "-c",
                                  std::string("trap 'echo ended; exit 0' TERM") + kWaits}));
  EXPECT_EQ(process.read_line(), "ready");
  server.reset();  // renewals fail from here on
  EXPECT_EQ(process.wait(), 75);
  EXPECT_EQ(process.out(), "ended\n");
  EXPECT_THAT(process.err(),
              HasSubstr("the lock 'nightly' could not be renewed, so the command was ended"));
}

TEST(LockCommandOfAServer, RunsOneCommandPerPermit) {
  Where where(true);
  const std::vector<std::string> at = where.flags();
  Holder holder(where, {"--permits", "2"});
  const auto run = [&](const std::string& permits) {
    return run_stator({"lock", "run", "nightly", at[0], at[1], "--wait", "0", "--permits", permits,
                       "--", "echo", "in"});
  };
  EXPECT_THAT(run("2"), Prints("in\n"));
  EXPECT_THAT(run("1").err, HasSubstr("nightly has 2 permits, not the 1 asked for"));
  EXPECT_THAT(run("0").err, HasSubstr("permits: is 0, must be 1 to 1000"));
  EXPECT_THAT(run_stator({"lock", "permits", "nightly", "1", at[0], at[1]}),
              Prints("permits\t1\n"));
  EXPECT_THAT(run("1").err, HasSubstr("nightly is held"));
  EXPECT_EQ(holder.release(), 5);
}

TEST(LockCommandOfAServer, ListsAndBreaksLocks) {
  Where where(true);
  const std::vector<std::string> at = where.flags();
  Holder holder(where, {"--user", "ann", "--grace", "0.1", "--lease", "5"});
  const auto ls = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"lock", "ls", at[0], at[1]});
    return run_stator(more);
  };
  Process waiter(stator_command(
      {"lock", "run", "nightly", at[0], at[1], "--fifo", "--user", "ben", "--", "echo", "next"}));
  while (ls({}).out.find("waits\tby ben") == std::string::npos) {
  }
  EXPECT_THAT(ls({}).out, MatchesRegex("nightly\theld\tby ann\tsince [^\t]+\tfence 1\n"
                                       "nightly\twaits\tby ben\tsince [^\t]+\tplace 2\n"));
  EXPECT_THAT(ls({"--user", "ann", "--json"}).out, HasSubstr("\"name\":\"nightly\""));
  EXPECT_THAT(ls({"--user", "cat"}), Prints(""));
  EXPECT_THAT(ls({"--expired"}), Prints(""));
  // A stopped holder sends no heartbeats. The waiter is stopped too, so that no process takes over.
  waiter.send_signal(SIGSTOP);
  holder.process().send_signal(SIGSTOP);
  // A heartbeat can have been in transit.
  std::string expired;
  while ((expired = ls({"--expired"}).out).empty()) {
  }
  EXPECT_THAT(expired, MatchesRegex("nightly\theld\tby ann\tsince [^\t]+\tfence 1\texpired\n"));
  EXPECT_THAT(run_stator({"lock", "break", "nightly", at[0], at[1]}).out,
              MatchesRegex("broken\tfence [0-9]+\n"));
  expect_refusal({"lock", "break", "nightly", at[0], at[1], "--owner", "x"}, 1, "x does not hold");
  expect_refusal({"lock", "break", "absent", at[0], at[1]}, 1, "absent was never held");
  waiter.send_signal(SIGCONT);
  EXPECT_EQ(waiter.wait(), 0);
  EXPECT_EQ(waiter.out(), "next\n");
  holder.process().send_signal(SIGCONT);
  EXPECT_EQ(holder.process().wait(), 75);
  EXPECT_THAT(holder.process().err(), HasSubstr("was lost, so the command was ended"));
}

TEST(LockCommandOfAServer, ListsExpiredHoldersWithoutWaitingForLongLeases) {
  Where where(true);
  const std::vector<std::string> at = where.flags();
  const auto die = [&](const std::string& name, const std::string& lease) {
    Process process(stator_command({"lock", "run", name, at[0], at[1], "--lease", lease, "--", "sh",
                                    "-c", "kill -KILL $PPID"}));
    EXPECT_EQ(process.wait(), -1);
  };
  die("long", "86400");
  die("short", "1");
  std::string expired;
  while ((expired = run_stator({"lock", "ls", at[0], at[1], "--expired"}).out).empty()) {
  }
  EXPECT_THAT(expired, MatchesRegex("short\theld\tby [^\t]+\tsince [^\t]+\tfence 1\texpired\n"));
}

TEST(LockCommandOfAServer, LeavesTheQueueWhenASignalEndsIt) {
  Where where(true);
  const std::vector<std::string> at = where.flags();
  Holder holder(where, {});
  Process waiter(stator_command({"lock", "run", "nightly", at[0], at[1], "--fifo", "--", "true"}));
  const auto show = [&] { return run_stator({"lock", "show", "nightly", at[0], at[1]}).out; };
  while (show().find("waits") == std::string::npos) {
  }
  waiter.send_signal(SIGTERM);
  EXPECT_EQ(waiter.wait(), -1);
  EXPECT_THAT(show(), testing::Not(HasSubstr("waits")));
  EXPECT_EQ(holder.release(), 5);
}

}  // namespace
}  // namespace stator::test
