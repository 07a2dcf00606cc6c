// SPDX-License-Identifier: Apache-2.0
#include "support/shared_store.h"

#include <algorithm>
#include <utility>

#include "storage/schema_rows.h"
#include "storage/split_range.h"

namespace stator::test {
namespace {

constexpr int kThreads = 3;
constexpr int kAttemptsMax = 300;  // threads of a busy machine have many conflicts
constexpr int kLookupsMax = 3;
constexpr uint64_t kOneInRestarts = 4;
constexpr uint64_t kVoidVisitsMax = 6;

// Absent after a conflict.
std::optional<CommitResult> result_of(const SharedBackend::Outcome& outcome) {
  using Reply = SharedBackend::Reply;
  switch (outcome.reply) {
    case Reply::kCommitted:
      return CommitResult{.sequence = outcome.sequence};
    case Reply::kSchemaChanged:
      return schema_changed();
    case Reply::kLost:
      return CommitResult{.outcome = CommitOutcome::kUnknown,
                          .error = {.code = Code::kOutcomeUnknown, .message = "no answer"}};
    case Reply::kConflict:
      break;
  }
  return std::nullopt;
}

}  // namespace

SharedStore::SharedStore(SharedBackend& backend, uint32_t seed) : backend_(backend), random_(seed) {
  const int threads = backend.is_virtual() ? 0 : kThreads;
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

SharedStore::~SharedStore() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

StoreCapabilities SharedStore::capabilities() const {
  return {.key_bytes_max = 2048, .several_processes = true};
}

void SharedStore::transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                           SchemaVersions expected) {
  post([this, keys, decide = std::move(decide), done = std::move(done), expected]() mutable {
    done(try_often(keys, [&](GuardedRows rows) { return decide(rows); }, expected));
  });
}

void SharedStore::transact_foreseen(std::span<const std::string> keys, Decide decide,
                                    CommitDone done, SchemaVersions expected) {
  post([this, keys, decide = std::move(decide), done = std::move(done), expected]() mutable {
    done(put_foreseen(keys, decide, expected));
  });
}

void SharedStore::write(Batch batch, CommitDone done, SchemaVersions expected) {
  post([this, batch = std::move(batch), done = std::move(done), expected]() mutable {
    done(try_often({}, [&](GuardedRows) { return batch; }, expected));
  });
}

Result<std::shared_ptr<const SchemaRow>> SharedStore::schema_row(std::string_view key) {
  return std::make_shared<const SchemaRow>(std::string(key));
}

Result<uint64_t> SharedStore::schema_version(const SchemaRow& row) {
  const auto found = backend_.get(std::span(&row.key(), 1));
  return found[0].value ? schema_version_in(*found[0].value) : 0;
}

void SharedStore::read(const ReadRequest& request, ReadVisitor visit, ReadDone done) {
  post([this, request, visit, done = std::move(done)]() mutable {
    if (request.start_over && random_below(kOneInRestarts) == 0) {
      uint64_t rest = random_below(kVoidVisitsMax);
      const auto read = backend_.read(
          request, [&](std::size_t part, std::string_view key, std::string_view value) {
            return rest-- > 0 && visit(part, key, value);
          });
      if (!read) return done(read);
      (*request.start_over)();
    }
    done(backend_.read(request, visit));
  });
}

void SharedStore::with_view(ViewBody body, ReadDone done) {
  post([this, body, done = std::move(done)]() mutable { done(backend_.with_view(body)); });
}

CommitResult SharedStore::try_often(std::span<const std::string> keys,
                                    FunctionRef<Batch(GuardedRows)> decide,
                                    SchemaVersions expected) {
  // A blind write reads nothing. Others read the schema versions with their keys, so they need no
  // commit if they do not write.
  std::vector<std::string> read(keys.begin(), keys.end());
  for (const SchemaVersion& schema : expected) {
    if (!keys.empty()) read.push_back(schema.row->key());
  }
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    auto found = backend_.get(read);
    for (std::size_t i = keys.size(); i < found.size(); ++i) {
      const auto& value = found[i].value;
      if ((value ? schema_version_in(*value) : 0) != expected[i - keys.size()].version) {
        return schema_changed();
      }
    }
    SharedBackend::Request request = request_with(expected);
    std::vector<std::optional<std::string>> rows;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      request.guards.push_back({.key = keys[i], .version = found[i].version});
      rows.push_back(std::move(found[i].value));
    }
    request.batch = decide(rows);
    if (request.batch.empty()) return {};
    if (auto result = result_of(commit(std::move(request)))) return std::move(*result);
    pause(attempt);
  }
  return {.outcome = CommitOutcome::kConflict,
          .error = {.code = Code::kConflict, .message = "too many conflicts"}};
}

CommitResult SharedStore::put_foreseen(std::span<const std::string> keys, Decide& decide,
                                       SchemaVersions expected) {
  std::vector<std::optional<std::string>> rows(keys.size());
  SharedBackend::Request request = request_with(expected);
  request.batch = decide(rows);
  const auto again = [&](GuardedRows found) { return decide(found); };
  if (request.batch.empty()) return try_often(keys, again, expected);
  request.reported.assign(keys.begin(), keys.end());
  auto outcome = commit(std::move(request));
  auto result = result_of(outcome);
  if (!result) return try_often(keys, again, expected);
  if (!outcome.replaced.empty()) static_cast<void>(decide(outcome.replaced));
  return std::move(*result);
}

SharedBackend::Request SharedStore::request_with(SchemaVersions expected) {
  SharedBackend::Request request{.id = backend_.new_id(), .guards = {}, .batch = {}};
  for (const SchemaVersion& schema : expected) {
    request.schemas.push_back({.key = schema.row->key(), .version = schema.version});
  }
  return request;
}

SharedBackend::Outcome SharedStore::commit(SharedBackend::Request request) {
  const uint64_t id = request.id;
  auto outcome = backend_.commit(std::move(request));
  for (int lookup = 0; lookup < kLookupsMax && outcome.reply == Reply::kLost; ++lookup) {
    if (const auto settled = backend_.settle(id)) outcome = *settled;
  }
  return outcome;
}

// Pauses longer after each conflict, for a random time.
void SharedStore::pause(int attempt) {
  backend_.back_off(random_below(1ULL << std::min(attempt, 8)));
}

uint64_t SharedStore::random_below(uint64_t end) {
  const std::lock_guard lock(mutex_);
  return random_() % end;
}

Result<std::vector<KeyRange>> SharedStore::split_ranges(const KeyRange& range, std::size_t parts) {
  return split_by_hash(range, parts);
}

Result<void> SharedStore::drop_range(const KeyRange& range) {
  backend_.drop_range(range);
  return {};
}

void SharedStore::post(Call call) {
  if (threads_.empty()) return call();
  {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  wake_.notify_all();  // before glibc 2.41, several waiters can miss a notify_one() (its bug 25847)
}

// A running call can make another one, so the threads end together.
void SharedStore::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return !calls_.empty() || (stopping_ && running_ == 0); });
    if (calls_.empty()) break;
    Call call = std::move(calls_.front());
    calls_.pop_front();
    ++running_;
    lock.unlock();
    call();
    call = nullptr;
    lock.lock();
    --running_;
    if (stopping_) wake_.notify_all();
  }
}

}  // namespace stator::test
