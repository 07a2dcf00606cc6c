// SPDX-License-Identifier: Apache-2.0
// A process that contends for a lock until the test ends. It logs when it held the lock, by the
// machine's true clock, and makes changes that conflict if another process has the lock too. Usage:
// worker ENDPOINT DIRECTORY PERMITS LEASE_MS CLOCK_RATE_PERCENT SEED
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "recipes/semaphore_faults/guarded_file.h"
#include "stator/http_client.h"
#include "stator/recipes/semaphore.h"

namespace stator::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// Clocks of another machine. The wall clock jumps; the boot clock has another start and another
// rate.
class SkewedTime final : public TimeSource {
 public:
  SkewedTime(int rate_percent, unsigned seed) : rate_percent_(rate_percent), random_(seed) {}

  Time now() override {
    const std::scoped_lock lock(mutex_);
    return Time::now() + std::chrono::hours(static_cast<int>(random_() % 20'000) - 10'000);
  }
  nanoseconds since_boot() override {
    return offset_ + (system_time().since_boot() - start_) * rate_percent_ / 100;
  }
  bool sleep(nanoseconds duration, std::stop_token stop) override {
    return system_time().sleep(duration / rate_percent_ * 100, std::move(stop));
  }
  nanoseconds true_length(nanoseconds length) const { return length / rate_percent_ * 100; }

 private:
  const int rate_percent_;
  std::mutex mutex_;
  std::minstd_rand random_;  // guarded by mutex_
  const nanoseconds start_ = system_time().since_boot();
  const nanoseconds offset_ = std::chrono::hours(random_() % 10'000);
};

class Worker {
 public:
  Worker(Client& client, char** arguments)
      : client_(client),
        directory_(arguments[2]),
        permits_(std::atoi(arguments[3])),
        lease_(std::atoi(arguments[4])),
        random_(static_cast<unsigned>(std::atoi(arguments[6]))),
        time_(std::atoi(arguments[5]), static_cast<unsigned>(random_())),
        locks_(client, {.table = "Locks",
                        .retry = {.backoff_base = 2ms, .backoff_max = 20ms},
                        .backoff_base = 5ms,
                        .backoff_max = 50ms,
                        .time = &time_}),
        file_(directory_ + "/guarded"),
        log_(open((directory_ + "/log").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
  }

  void round() {
    const bool keeps = chance(50);
    const nanoseconds begun = system_time().since_boot();
    auto lease =
        locks_.acquire("lock", {.permits = permits_,
                                .lease = lease_,
                                .wait = 2s,
                                .order = chance(50) ? Order::kFifo : Order::kAny,
                                .renewal = keeps ? Renewal::kBackground : Renewal::kByCaller});
    if (!lease) return;
    const nanoseconds got = system_time().since_boot();
    const nanoseconds left = time_.true_length(lease->remaining());
    // The time left gives the time of the request, unless the lease has ended or was renewed.
    const bool tells = left.count() > 0 && !keeps;
    const nanoseconds asked = tells ? got - (time_.true_length(lease_) - left) : begun;
    log("A", *lease, {asked, got, got + left});
    use(*lease);
    const nanoseconds now = system_time().since_boot();
    if (lease->held()) log("E", *lease, {now});
    if (chance(80)) (void)lease->release();  // otherwise the destructor does
  }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  // Sometimes stops itself at the worst time; the test sends SIGCONT repeatedly.
  void pause() {
    if (chance(15)) raise(SIGSTOP);
    if (chance(30)) usleep(static_cast<useconds_t>(random_() % 50'000));
  }

  void use(Lease& lease) {
    const int64_t fence = to_int64(lease.fence());
    const auto value = file_.read(fence);
    pause();
    if (chance(30)) (void)lease.renew();
    (void)lease.commit(
        {.items = {{.action = TransactAction::kUpdate,
                    .table = "Locks",
                    .item = {{"pk", "history"}},
                    .update = "SET fences = list_append(if_not_exists(fences, :none), :mine)",
                    .values = Values{{":none", List{}}, {":mine", List{fence}}}}}});
    pause();
    if (value) (void)file_.write(fence, *value + 1);
  }

  void log(const char* what, const Lease& lease, const std::vector<nanoseconds>& times) const {
    std::string line = fmt::format("{} {}", what, to_int64(lease.fence()));
    for (const nanoseconds time : times) line += fmt::format(" {}", time.count());
    line += '\n';
    (void)!write(log_, line.data(), line.size());
  }

  Client& client_;
  std::string directory_;
  int permits_;
  std::chrono::milliseconds lease_;
  std::minstd_rand random_;
  SkewedTime time_;
  Semaphore locks_;
  GuardedFile file_;
  int log_;
};

}  // namespace
}  // namespace stator::test

int main(int argc, char** argv) {
  using namespace stator;
  if (argc != 7) return 2;
  auto client = HttpClient::open({.endpoint = argv[1],
                                  .max_attempts = 3,
                                  .request_timeout = std::chrono::seconds(2),
                                  .backoff_base = std::chrono::milliseconds(5),
                                  .backoff_max = std::chrono::milliseconds(50)});
  if (!client) return 1;
  test::Worker worker(*client, argv);
  const std::string end = std::string(argv[2]) + "/end";
  while (access(end.c_str(), F_OK) != 0) worker.round();
  // Exits immediately: LeakSanitizer's check at exit traces this process, and hangs if SIGCONT
  // arrives.
  _exit(0);
}
