// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/postgres_store.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/awaited.h"
#include "base/wait_permit.h"
#include "storage/postgres/monitor.h"
#include "storage/postgres/reading.h"
#include "storage/postgres/row_key.h"
#include "storage/postgres/schema.h"
#include "storage/postgres/transactions.h"
#include "storage/postgres/worker_pool.h"
#include "storage/schema_rows.h"
#include "storage/split_range.h"

namespace stator {
namespace {

using postgres::Connection;
using postgres::Parameters;
using postgres::RowKey;
using postgres::Session;
using postgres::SqlResult;
using postgres::Statement;
using postgres::WorkerPool;

// How long a group of commits waits for a lock. A commit that waits longer is repeated outside the
// group.
constexpr std::chrono::milliseconds kGroupLockTimeout{100};

postgres::ConnectionOptions connection_options(const PostgresStoreOptions& options) {
  return {.dsn = options.dsn,
          .schema = options.schema,
          .response_timeout = options.response_timeout,
          .lock_timeout = options.response_timeout / 2};
}

postgres::ConnectionOptions commit_options(const PostgresStoreOptions& options) {
  postgres::ConnectionOptions commits = connection_options(options);
  commits.lock_timeout = std::min(commits.lock_timeout, kGroupLockTimeout);
  return commits;
}

// Counts the calls in progress. A callback can begin another call before its own call ends.
class CallsUnderWay {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  void wait_for_none() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }
  // Runs `done`, and then ends the call.
  template <class Value>
  auto ending(std::move_only_function<void(Value)> done) {
    begin();
    return [this, done = std::move(done)](Value value) mutable {
      done(std::move(value));
      done = nullptr;
      end();
    };
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t count_ = 0;
};

class PostgresStore final : public TransactStore {
 public:
  explicit PostgresStore(const PostgresStoreOptions& options)
      : connections_(connection_options(options)),
        commit_connections_(commit_options(options)),
        server_(connections_, options.report),
        reads_(connections_, server_, options.read_connections, options.queued_reads_max),
        locked_(connections_, server_, options.locked_connections, options.queued_reads_max),
        committer_(commit_connections_, server_,
                   {.connections = options.commit_connections,
                    .queue_bytes_max = options.queue_bytes_max,
                    .settle_timeout = options.settle_timeout}),
        transactions_(reads_, locked_, committer_, options.settle_timeout),
        monitor_(connections_, server_, options.report, options.lag_reported) {}
  PostgresStore(const PostgresStore&) = delete;
  PostgresStore& operator=(const PostgresStore&) = delete;
  ~PostgresStore() override { calls_.wait_for_none(); }

  // An entry of a PostgreSQL index has at most 2,704 bytes.
  StoreCapabilities capabilities() const override {
    return {.key_bytes_max = 2600, .several_processes = true};
  }
  StoreHealth health() const override {
    std::string reason = server_.problem();
    if (reason.empty() && committer_.is_stuck()) reason = postgres::kUnconfirmed;
    const bool writable = reason.empty();
    return {.writable = writable, .reason = std::move(reason)};
  }
  StoreStats stats() const override {
    StoreStats stats = committer_.stats();
    stats.shared = {
        .pools = {reads_.stats("reads"), committer_.pool_stats("commits"), locked_.stats("locked")},
        .horizon_lag = monitor_.horizon_lag(),
        .address = server_.address()};
    return stats;
  }

  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    transactions_.transact(keys, std::move(decide), calls_.ending(std::move(done)), expected);
  }
  void transact_foreseen(std::span<const std::string> keys, Decide decide, CommitDone done,
                         SchemaVersions expected) override {
    transactions_.transact_foreseen(keys, std::move(decide), calls_.ending(std::move(done)),
                                    expected);
  }
  void write(Batch batch, CommitDone done, SchemaVersions expected) override {
    transactions_.write(std::move(batch), calls_.ending(std::move(done)), expected);
  }
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override;
  void with_view(ViewBody body, ReadDone done) override;

  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key) override {
    return std::make_shared<const SchemaRow>(std::string(key));
  }
  Result<uint64_t> schema_version(const SchemaRow& row) override;
  Result<LogPosition> safe_position() override;
  Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) override {
    return split_by_hash(range, parts);
  }
  Result<void> drop_range(const KeyRange& range) override;

 private:
  // Queues the read that `task` makes of `done`, or passes the error on to `done`.
  template <class Task>
  void post_read(Task task, ReadDone done);
  // Queues a job that returns what `done` receives.
  template <class Job>
  void post_job(Job job, ReadDone done);
  // Runs Session::read(job) and waits for it.
  template <class Value, class Job>
  Result<Value> run_and_wait(Job job);

  const postgres::ConnectionOptions connections_;
  const postgres::ConnectionOptions commit_connections_;
  postgres::Server server_;
  CallsUnderWay calls_;
  WorkerPool reads_;
  WorkerPool locked_;
  postgres::Committer committer_;
  postgres::Transactions transactions_;
  postgres::Monitor monitor_;
};

constexpr int kTriesMax = 2;  // attempts of a read whose connection breaks

// A read without ranges.
class StoreKeyRead final : public postgres::KeyRead {
 public:
  StoreKeyRead(std::span<const std::string> keys, ReadVisitor visit, ReadDone done)
      : keys_(keys), visit_(visit), done_(std::move(done)) {}

  std::size_t key_count() const override { return keys_.size(); }
  std::string_view key(std::size_t number) const override { return keys_[number]; }
  void finish(const Result<postgres::KeyRows>& rows) override {
    if (!rows) return done_(Failure(rows.error()));
    postgres::visit_keys(keys_, *rows, visit_);
    done_({});
  }

 private:
  const std::span<const std::string> keys_;
  const ReadVisitor visit_;
  ReadDone done_;
};

template <class Task>
void PostgresStore::post_read(Task task, ReadDone done) {
  if (reads_.is_full()) {
    return done(
        fail(Code::kThrottling, "too many reads are waiting for PostgreSQL; try again later"));
  }
  reads_.post(task(calls_.ending(std::move(done))));
}

void PostgresStore::read(const ReadRequest& request, ReadVisitor visit, ReadDone done) {
  if (request.ranges.empty()) {
    if (request.keys.empty()) return done({});
    return post_read(
        [&](ReadDone ending) {
          return std::make_unique<StoreKeyRead>(request.keys, visit, std::move(ending));
        },
        std::move(done));
  }
  post_job(
      [request, visit](Session& session) -> Result<void> {
        for (int tries = 1;; ++tries) {
          auto connection = session.connected();
          if (!connection) return Failure(connection.error());
          bool visited = false;
          const auto result = postgres::read_ranges(**connection, request, visit, visited);
          if (result) return {};
          if (visited || tries == kTriesMax || !(*connection)->is_broken()) {
            return Failure(postgres::to_error(result.error()));
          }
        }
      },
      std::move(done));
}

template <class Job>
void PostgresStore::post_job(Job job, ReadDone done) {
  post_read(
      [&](ReadDone ending) -> WorkerPool::Job {
        return [job = std::move(job), ending = std::move(ending)](Session& session) mutable {
          ending(job(session));
        };
      },
      std::move(done));
}

void PostgresStore::with_view(ViewBody body, ReadDone done) {
  post_job(
      [body](Session& session) -> Result<void> {
        auto connection = session.connected();
        if (!connection) return Failure(connection.error());
        postgres::SnapshotView view(**connection);
        return body(view);
      },
      std::move(done));
}

template <class Value, class Job>
Result<Value> PostgresStore::run_and_wait(Job job) {
  std::optional<Value> value;
  Awaited<Result<void>> ended;
  const WaitPermit permit(WaitFor::kServer);
  post_job(
      [&](Session& session) -> Result<void> {
        STATOR_ASSIGN_OR_RETURN(value, session.read(job));
        return {};
      },
      [&](Result<void> result) { ended.set(std::move(result)); });
  STATOR_RETURN_IF_ERROR(ended.take());
  return std::move(*value);
}

Result<uint64_t> PostgresStore::schema_version(const SchemaRow& row) {
  return run_and_wait<uint64_t>([&](Connection& connection) -> SqlResult<uint64_t> {
    const RowKey key(row.key());
    const auto rows = connection.execute(Statement::kGet, Parameters().bytes(key.p).bytes(key.s));
    if (!rows) return std::unexpected(rows.error());
    return rows->count() == 0 ? 0 : schema_version_in(rows->bytes(0, 0));
  });
}

// A crash of the server loses unacknowledged transactions, and their ids are used again. So a
// position that could be repeated is made durable before it is returned, by a commit after it.
Result<LogPosition> PostgresStore::safe_position() {
  STATOR_ASSIGN_OR_RETURN(
      const LogPosition safe,
      run_and_wait<LogPosition>([](Connection& connection) -> SqlResult<LogPosition> {
        const auto rows = connection.execute(Statement::kSafePosition);
        if (!rows) return std::unexpected(rows.error());
        return LogPosition{rows->number(0, 0)};
      }));
  if (safe > server_.acknowledged()) {
    CommitResult marked = write_and_wait(*this, Batch());
    if (marked.outcome == CommitOutcome::kUnknown) marked.error.code = Code::kUnavailable;
    if (marked.outcome != CommitOutcome::kCommitted) return Failure(std::move(marked.error));
  }
  return safe;
}

Result<void> PostgresStore::drop_range(const KeyRange& range) {
  KeyRange rest = range;
  for (;;) {
    STATOR_ASSIGN_OR_RETURN(const auto last,
                            run_and_wait<std::optional<std::string>>([&](Connection& connection) {
                              return postgres::drop_chunk(connection, rest);
                            }));
    if (!last) return {};
    rest.begin = *last + '\0';
  }
}

}  // namespace

Result<void> initialize_postgres_store(const PostgresStoreOptions& options) {
  return postgres::initialize(connection_options(options));
}

Result<std::unique_ptr<TransactStore>> open_postgres_store(const PostgresStoreOptions& options) {
  STATOR_RETURN_IF_ERROR(postgres::check_server_and_data(connection_options(options)));
  return std::make_unique<PostgresStore>(options);
}

}  // namespace stator
