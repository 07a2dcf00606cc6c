// SPDX-License-Identifier: Apache-2.0
// stator lock: the command that it runs, its holder, those who want to be.
#include <sys/stat.h>

#include <fstream>

#include "cli/stator_program.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class LockCommand : public CommandTest {
 protected:
  Ran locked(const std::string& script) {
    return stator({"lock", "run", "nightly", "--", "sh", "-c", script});
  }
};
STATOR_ON_DATA_AND_ENDPOINT(LockCommand);

TEST_P(LockCommand, AnswersTheExitStatusOfItsCommand) {
  EXPECT_EQ(locked("exit 0").status, 0);
  EXPECT_EQ(locked("exit 7").status, 7);
  EXPECT_EQ(locked("kill -KILL $$").status, 128 + SIGKILL);
  const Ran ran = locked("echo out; echo err >&2; exit 3");
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
  EXPECT_THAT(stator({"lock", "show", "nightly"}), Prints("free\n"));
}

TEST_P(LockCommand, TellsItsCommandTheLockAndAFenceThatGrows) {
  EXPECT_THAT(locked("echo $STATOR_LOCK $STATOR_FENCE"), Prints("nightly 1\n"));
  EXPECT_THAT(locked("echo $STATOR_LOCK $STATOR_FENCE"), Prints("nightly 2\n"));
  EXPECT_THAT(stator({"lock", "run", "other", "--", "sh", "-c", "echo $STATOR_LOCK $STATOR_FENCE"}),
              Prints("other 1\n"));
}

TEST_P(LockCommand, SaysWhatIsWrong) {
  const auto expect_failure = [&](std::vector<std::string> arguments, int status,
                                  const std::string& reason) {
    const Ran ran = stator(std::move(arguments));
    EXPECT_EQ(ran.status, status) << reason;
    EXPECT_THAT(ran.err, AllOf(MatchesRegex("stator: [^\n]*\n"), HasSubstr(reason)));
  };
  expect_failure({"lock", "run", "n"}, 2, "command is required (see stator lock run --help)");
  expect_failure({"lock", "run", "n", "--lease", "0", "--", "true"}, 2, "--lease: Value 0");
  expect_failure({"lock", "run", "n", "--wait", "-1", "--", "true"}, 2, "--wait: Value -1");
  expect_failure({"lock", "run", "", "--", "true"}, 2, "name: must not be empty");
  expect_failure({"lock", "run", "n", "--", "/no/such/program"}, 1,
                 "cannot run '/no/such/program': No such file or directory");
  // What could not run has not kept the lock.
  EXPECT_THAT(stator({"lock", "show", "n"}), Prints("free\n"));
}

// A command that holds the lock, says so on its first line and ends when the pipe is written to.
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
  expect_refusal(
      {"lock", "run", "nightly", flags[0], flags[1], "--wait", "0.1", "--", "echo", "no"}, 1,
      "nightly is still held by ann");
  EXPECT_THAT(run_stator({"lock", "show", "nightly", flags[0], flags[1]}).out,
              MatchesRegex("held\tby ann\tsince [^\t]+\tfence 1\n"));
  EXPECT_THAT(run_stator({"lock", "show", "nightly", flags[0], flags[1], "--json"}).out,
              MatchesRegex("\\{\"fence\":1,\"held\":true,\"lease_ms\":20000,\"owner\":\"[^\"]+\","
                           "\"since\":\"[^\"]+\",\"user\":\"ann\"\\}\n"));
  EXPECT_EQ(holder.release(), 5);
  EXPECT_THAT(run_stator({"lock", "show", "nightly", flags[0], flags[1], "--json"}),
              Prints("{\"held\":false}\n"));
}

TEST(LockCommandOfAServer, WaitsForTheLockUnlessToldHowLong) {
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
  expect_refusal({"lock", "run", "nightly", "--data", where.path("data"), "--", "echo", "no"}, 1,
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
    const std::string script =
        std::string("trap 'kill $!; echo got; exit 9' ") + name + "; sleep 60 & echo ready; wait";
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    Process process(stator_command(std::move(arguments)));
    EXPECT_EQ(process.read_line(), "ready");
    process.send_signal(signal);
    EXPECT_EQ(process.wait(), 9) << name;
    EXPECT_EQ(process.out(), "got\n");
  }
}

TEST(LockCommandOfAServer, EndsItsCommandWhereTheLockIsLost) {
  const TempDir temporary;
  auto server = std::make_unique<Serving>(std::vector<std::string>{"--memory"});
  Process process(stator_command(
      {"lock", "run", "nightly", "--endpoint", "http://127.0.0.1:" + std::to_string(server->port()),
       "--lease", "0.5", "--grace", "10", "--", "sh", "-c",
       "trap 'kill $!; echo ended; exit 0' TERM; sleep 60 & echo ready; wait"}));
  EXPECT_EQ(process.read_line(), "ready");
  server.reset();  // no renewal gets through any more
  EXPECT_EQ(process.wait(), 1);
  EXPECT_EQ(process.out(), "ended\n");
  EXPECT_THAT(process.err(), HasSubstr("the lock 'nightly' was lost, so the command was ended"));
}

}  // namespace
}  // namespace stator::test
