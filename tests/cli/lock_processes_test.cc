// SPDX-License-Identifier: Apache-2.0
// stator lock run and the processes of its command: their environment, their end, the terminal.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "cli/stator_program.h"
#include "cli/terminal.h"
#include "support/paths.h"
#include "support/poll_until.h"

namespace stator::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// Reports whether a process is running. One that has ended but was not waited for is not running.
bool runs(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string stat;
  std::getline(file, stat);
  const auto name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.at(name_end + 2) != 'Z';
}

// Types Ctrl-Z, repeatedly if necessary. If a stop arrives while the terminal is handed over, the
// following SIGCONT cancels it.
bool stops(Terminal& shell) {
  for (int i = 0; i < 10; ++i) {
    shell.type("\x1a");
    if (shell.shows("Stopped", std::chrono::seconds(5))) return true;
  }
  return false;
}

class LockProcesses : public testing::Test {
 protected:
  std::vector<std::string> run(const std::string& lock, std::vector<std::string> flags,
                               const std::vector<std::string>& command) const {
    std::vector<std::string> words = {"lock", "run", lock, "--endpoint", url()};
    words.insert(words.end(), flags.begin(), flags.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return stator_command(std::move(words));
  }
  std::vector<std::string> run_script(const std::string& script,
                                      std::vector<std::string> flags = {}) const {
    return run("nightly", std::move(flags), {"sh", "-c", script});
  }
  std::string url() const { return server_->url(); }

  // Creates a file of shell commands.
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = (directory_.path() / name).string();
    std::ofstream(path) << text << '\n';
    return path;
  }
  std::string lock_run() const { return stator_binary() + " lock run nightly --endpoint " + url(); }
  // Creates a file that runs `script` under the lock, as one job of a shell.
  std::string launcher(const std::string& script, const std::string& flags = "") const {
    return file("launch", "exec " + lock_run() + " " + flags + " -- sh " + file("job", script));
  }

  TempDir directory_;
  std::unique_ptr<Serving> server_ =
      std::make_unique<Serving>(std::vector<std::string>{"--memory"});
};

TEST_F(LockProcesses, HaveTheInnermostLockInTheirEnvironment) {
  std::vector<std::string> inner = run_script("echo $STATOR_LOCK $STATOR_FENCE");
  std::vector<std::string> outer = run("outer", {}, inner);
  for (int fence = 1; fence <= 2; ++fence) {
    Process process(run("outer", {}, inner));
    EXPECT_EQ(process.wait(), 0);
    EXPECT_EQ(process.out(), "nightly " + std::to_string(fence) + "\n");
  }
  // Each variable exists only once, because programs could read either of two.
  outer.insert(outer.begin(), {"env", "STATOR_LOCK=inherited", "STATOR_FENCE=99"});
  outer.resize(outer.size() - inner.size());
  outer.emplace_back("env");
  Process process(outer);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_THAT(process.out(), HasSubstr("STATOR_LOCK=outer\n"));
  EXPECT_THAT(process.out(), Not(HasSubstr("STATOR_LOCK=inherited")));
  EXPECT_THAT(process.out(), Not(HasSubstr("STATOR_FENCE=99")));
}

TEST_F(LockProcesses, AllEndWhenTheLockIsLost) {
  for (const char* mind : {"", "trap '' TERM; "}) {
    server_ = std::make_unique<Serving>(std::vector<std::string>{"--memory"});
    // A job that waits for its command, which waits for another one.
    const std::string job =
        std::string(mind) + "echo $$; sh -c 'echo $$; sleep 100 & echo $!; wait' & wait; true";
    Process process(
        run_script("sh " + file("job", job) + "; true", {"--lease", "5", "--grace", "0.2"}));
    std::vector<std::string> pids(3);
    for (std::string& pid : pids) pid = process.read_line();
    for (const std::string& pid : pids) EXPECT_TRUE(runs(pid)) << pid;
    server_.reset();  // renewals fail from here on
    EXPECT_EQ(process.wait(), 75);
    EXPECT_THAT(process.err(), HasSubstr(", so the command was ended"));
    for (const std::string& pid : pids) {
      EXPECT_TRUE(poll_until([&] { return !runs(pid); })) << mind << pid;
      if (runs(pid)) kill(std::stoi(pid), SIGKILL);
    }
  }
}

TEST_F(LockProcesses, AllEndIfTheCommandEndsWhenTheLockIsAlreadyLost) {
  const std::string fifo = (directory_.path() / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), S_IRUSR | S_IWUSR), 0);
  const int end = open(fifo.c_str(), O_RDWR | O_CLOEXEC);  // needs no reader
  ASSERT_GE(end, 0);
  Process process(
      run_script("sleep 100 & echo $$; echo $!; read line < " + fifo, {"--lease", "5"}));
  const std::string command = process.read_line();
  const std::string left = process.read_line();
  process.send_signal(SIGSTOP);
  Process next(run_script("echo next"));
  EXPECT_EQ(next.wait(), 0);
  EXPECT_EQ(write(end, "end\n", 4), 4);
  EXPECT_TRUE(poll_until([&] { return !runs(command); }));
  EXPECT_TRUE(runs(left));
  process.send_signal(SIGCONT);
  EXPECT_EQ(process.wait(), 75);
  EXPECT_THAT(process.err(), HasSubstr("the lock 'nightly' was lost before the command ended"));
  EXPECT_FALSE(runs(left));
  if (runs(left)) kill(std::stoi(left), SIGKILL);
  close(end);
}

TEST_F(LockProcesses, AllGetTheSignalsOfTheCommand) {
  Process process(run_script("sh -c 'echo $$; sleep 100; true'; echo survived"));
  const std::string pid = process.read_line();
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.wait(), 128 + SIGTERM);
  EXPECT_EQ(process.out(), "");
  EXPECT_TRUE(poll_until([&] { return !runs(pid); }));  // the signal reached it too, but later
}

TEST_F(LockProcesses, AreContinuedAfterTheyWereStoppedWithoutATerminal) {
  std::vector<std::string> command =
      run_script("trap 'echo continued; exit 4' CONT; echo ready; while :; do sleep 0.05; done");
  command.insert(command.begin(), "setsid");
  Process process(command);
  EXPECT_EQ(process.read_line(), "ready");
  process.send_signal(SIGTSTP);
  process.send_signal(SIGCONT);
  EXPECT_EQ(process.wait(), 4);
  EXPECT_EQ(process.out(), "continued\n");
}

TEST_F(LockProcesses, ReadTheTerminal) {
  Terminal terminal(run_script("read line < /dev/tty; echo \"got $line\"; exit 6"));
  terminal.type("words\n");
  EXPECT_TRUE(terminal.shows("got words"));
  EXPECT_EQ(terminal.wait(), 6);
}

TEST_F(LockProcesses, AreInterruptedFromTheTerminal) {
  // The second is stopped when `cat` reads; it gets the terminal when the signal comes. `read`
  // cannot be used: a shell's trap loses a signal that arrives just before `read` waits.
  for (const char* waits : {"sleep 100 & wait", "cat /dev/tty & wait"}) {
    Terminal terminal(
        run_script(std::string("trap 'echo interrupted; exit 3' INT; echo ready; ") + waits));
    EXPECT_TRUE(terminal.shows("ready"));
    terminal.type("\x03");
    EXPECT_TRUE(terminal.shows("interrupted")) << waits;
    EXPECT_EQ(terminal.wait(), 3);
  }
}

TEST_F(LockProcesses, TakeTheScriptThatRunsThemAlongWhenInterrupted) {
  // With and without a command that needs the terminal.
  for (const char* job : {"echo got nothing", "read line < /dev/tty; echo \"got $line\""}) {
    // Without a fork, during which a shell can miss the signal.
    const std::string waiting = file("job", std::string(job) + "; exec sleep 100");
    const std::string launch = file("launch", lock_run() + " -- sh " + waiting + "\necho went on");
    Terminal terminal({"sh", launch});
    terminal.type("nothing\n");
    EXPECT_TRUE(terminal.shows("got nothing"));
    terminal.type("\x03");
    EXPECT_THAT(terminal.rest(), Not(HasSubstr("went on"))) << job;
    EXPECT_NE(terminal.wait(), 0) << job;
  }
}

TEST_F(LockProcesses, StopAndContinueAsAJob) {
  for (const char* reads : {"true", "read first < /dev/tty; echo \"first: $first\""}) {
    const std::string launch = launcher(std::string("echo ready; ") + reads +
                                        "; read line < /dev/tty; echo \"got $line\"; exit 6");
    Terminal shell({"sh", "-im"});
    shell.type("sh " + launch + "\n");
    EXPECT_TRUE(shell.shows("ready\r\n"));
    if (*reads == 'r') {
      shell.type("first\n");
      EXPECT_TRUE(shell.shows("first: first"));
    }
    ASSERT_TRUE(stops(shell)) << reads;
    shell.type("fg\n");
    EXPECT_TRUE(shell.shows("fg\r\n"));
    shell.type("words\n");
    EXPECT_TRUE(shell.shows("got words")) << reads;
    shell.type("echo status $?; exit\n");
    EXPECT_TRUE(shell.shows("status 6"));
    EXPECT_EQ(shell.wait(), 0);
  }
}

TEST_F(LockProcesses, DoNotContinueIfTheLockWasLostWhileTheyWereStopped) {
  const std::string launch =
      launcher("echo ready; read line < /dev/tty; echo \"got $line\"", "--lease 5 --grace 0.2");
  Terminal shell({"sh", "-im"});
  shell.type("sh " + launch + "\n");
  EXPECT_TRUE(shell.shows("ready\r\n"));
  ASSERT_TRUE(stops(shell));
  Process next(run_script("echo next"));
  EXPECT_EQ(next.wait(), 0);
  EXPECT_EQ(next.out(), "next\n");
  shell.type("fg\n");
  EXPECT_TRUE(shell.shows("was lost, so the command was ended"));
  shell.type("exit\n");
  EXPECT_THAT(shell.rest(), Not(HasSubstr("got")));
}

}  // namespace
}  // namespace stator::test
