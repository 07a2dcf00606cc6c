// SPDX-License-Identifier: Apache-2.0
#include "engine/core/leased_job.h"

#include <utility>

namespace stator {
namespace {

class LeasedJob final : public Job {
 public:
  LeasedJob(EngineCore& engine, std::shared_ptr<JobLease> lease, std::unique_ptr<Job> job)
      : engine_(engine), lease_(std::move(lease)), job_(std::move(job)) {}

  Result<JobState> step() override {
    if (!lease_->is_held() && !lease_->is_lost()) STATOR_RETURN_IF_ERROR(lease_->take());
    if (lease_->is_lost()) return ended();
    if (!is_format_checked_) STATOR_RETURN_IF_ERROR(check_format());
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
  // Raising the format frees the leases. A lease that was acquired later is of no use.
  Result<void> check_format() {
    STATOR_RETURN_IF_ERROR(engine_.catalog->refresh());
    is_format_checked_ = true;
    return {};
  }

  JobState ended() {
    engine_.leases.end(*lease_);
    return JobState::kDone;
  }

  EngineCore& engine_;
  std::shared_ptr<JobLease> lease_;
  std::unique_ptr<Job> job_;
  bool is_format_checked_ = false;
};

}  // namespace

void start_leased(EngineCore& engine, std::string name, LeasedWork work, MakeJob make) {
  auto lease = engine.leases.begin(std::move(work));
  auto job = make(*lease);
  engine.jobs.add(std::move(name),
                  std::make_unique<LeasedJob>(engine, std::move(lease), std::move(job)));
}

}  // namespace stator
