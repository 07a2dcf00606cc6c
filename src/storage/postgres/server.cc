// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/server.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stator::postgres {
namespace {

constexpr std::chrono::milliseconds kPauseFirst{50};
constexpr std::chrono::milliseconds kPauseMax{1'000};

}  // namespace

Server::Server(const ConnectionOptions& options, StoreReport report)
    : options_(options), report_(std::move(report)) {
  looking_ = std::jthread([this](const std::stop_token& stop) { look(stop); });
}

Server::~Server() = default;

Result<std::unique_ptr<Connection>> Server::connect(const ConnectionOptions& options) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !problem_.empty() || !doubted_ || !finding_out_; });
  if (!problem_.empty()) return fail(Code::kUnavailable, problem_);
  const bool finds_out = doubted_;
  if (finds_out) finding_out_ = true;
  auto opened = attempt(options, lock);
  if (finds_out) finding_out_ = false;
  return opened;
}

void Server::doubt() {
  const std::lock_guard lock(mutex_);
  doubted_ = true;
  ++doubts_;
}

std::string Server::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::string Server::address() const {
  const std::lock_guard lock(mutex_);
  return address_;
}

void Server::acknowledge(LogPosition end) {
  const auto position = static_cast<uint64_t>(end);
  uint64_t before = acknowledged_.load();
  while (before < position && !acknowledged_.compare_exchange_weak(before, position)) {
  }
}

Result<std::unique_ptr<Connection>> Server::attempt(const ConnectionOptions& options,
                                                    std::unique_lock<std::mutex>& lock) {
  const uint64_t failures_before = failures_;
  lock.unlock();
  auto opened = open_connection(options, Target::kReadWrite, acknowledged());
  lock.lock();
  LogLevel level = LogLevel::kInfo;
  std::string line;
  std::string risk;
  if (!opened) {
    // While the store is open, a problem of the server is not an error of the request.
    opened = fail(Code::kUnavailable, std::move(opened).error().message);
    ++failures_;
    doubted_ = true;
    level = LogLevel::kWarning;
    if (problem_.empty()) line = "the database is unreachable: " + opened.error().message;
    problem_ = opened.error().message;
  } else if (failures_ == failures_before) {
    const std::string before = std::exchange(address_, (*opened)->address());
    if (!problem_.empty()) {
      line = "the database is reachable, at " + address_;
    } else if (before.empty()) {
      line = "the database is at " + address_;
    } else if (before != address_) {
      line = "the database is now at " + address_ + ", before at " + before;
    }
    if ((*opened)->risk != risk_) risk = risk_ = (*opened)->risk;
    doubted_ = false;
    problem_.clear();
  }
  changed_.notify_all();
  if (report_ && !(line.empty() && risk.empty())) {
    lock.unlock();
    if (!line.empty()) report_(level, line);
    if (!risk.empty()) report_(LogLevel::kWarning, risk);
    lock.lock();
  }
  return opened;
}

void Server::look(const std::stop_token& stop) {
  std::chrono::milliseconds pause = kPauseFirst;
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !problem_.empty(); })) {
    changed_.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return;
    const auto opened = attempt(options_, lock);
    pause = opened ? kPauseFirst : std::min(2 * pause, kPauseMax);
  }
}

}  // namespace stator::postgres
