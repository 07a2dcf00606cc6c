// SPDX-License-Identifier: Apache-2.0
#include "engine/core/leased_job.h"

#include <utility>

namespace stator {
namespace {

class LeasedJob final : public Job {
 public:
  LeasedJob(JobLeases& leases, std::shared_ptr<JobLease> lease, std::unique_ptr<Job> job)
      : leases_(leases), lease_(std::move(lease)), job_(std::move(job)) {}

  Result<JobState> step() override {
    if (!lease_->is_held() && !lease_->is_lost()) STATOR_RETURN_IF_ERROR(lease_->take());
    if (lease_->is_lost()) return ended();
    auto state = job_->step();
    if (lease_->is_lost() || (state && *state == JobState::kDone)) return ended();
    return state;
  }

  std::chrono::milliseconds pause() override { return job_->pause(); }
  void rest() override { job_->rest(); }
  bool gives_up() const override { return job_->gives_up(); }

  Result<void> abandon(const Error& why) override {
    if (lease_->is_held()) {
      auto abandoned = job_->abandon(why);
      if (!abandoned && !lease_->is_lost()) return abandoned;
    }
    ended();
    return {};
  }

 private:
  JobState ended() {
    leases_.end(*lease_);
    return JobState::kDone;
  }

  JobLeases& leases_;
  std::shared_ptr<JobLease> lease_;
  std::unique_ptr<Job> job_;
};

}  // namespace

void start_leased(EngineCore& engine, std::string name, LeasedWork work, MakeJob make) {
  auto lease = engine.leases.begin(std::move(work));
  auto job = make(*lease);
  engine.jobs.add(std::move(name),
                  std::make_unique<LeasedJob>(engine.leases, std::move(lease), std::move(job)));
}

}  // namespace stator
