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

Server::Server(const ConnectionOptions& options) : options_(options) {
  looking_ = std::jthread([this](const std::stop_token& stop) { look(stop); });
}

Server::~Server() = default;

Result<std::unique_ptr<Connection>> Server::connect(const ConnectionOptions& options) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !problem_.empty() || !doubted_ || !finding_out_; });
  if (!problem_.empty()) return fail(Code::kUnavailable, problem_);
  const bool finds_out = doubted_;
  if (finds_out) finding_out_ = true;
  lock.unlock();
  auto opened = open(options);
  lock.lock();
  if (finds_out) finding_out_ = false;
  note(opened);
  return opened;
}

void Server::doubt() {
  const std::lock_guard lock(mutex_);
  doubted_ = true;
}

std::string Server::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void Server::acknowledge(LogPosition end) {
  const auto position = static_cast<uint64_t>(end);
  uint64_t before = acknowledged_.load();
  while (before < position && !acknowledged_.compare_exchange_weak(before, position)) {
  }
}

// At run time no fault of the server is one of the caller.
Result<std::unique_ptr<Connection>> Server::open(const ConnectionOptions& options) {
  auto opened = open_connection(options, Target::kReadWrite, acknowledged());
  if (!opened) return fail(Code::kUnavailable, std::move(opened).error().message);
  return opened;
}

void Server::note(const Result<std::unique_ptr<Connection>>& opened) {
  doubted_ = !opened.has_value();
  problem_ = opened ? "" : opened.error().message;
  changed_.notify_all();
}

void Server::look(const std::stop_token& stop) {
  std::chrono::milliseconds pause = kPauseFirst;
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !problem_.empty(); })) {
    changed_.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return;
    lock.unlock();
    const auto opened = open(options_);
    lock.lock();
    note(opened);
    pause = opened ? kPauseFirst : std::min(2 * pause, kPauseMax);
  }
}

}  // namespace stator::postgres
