// SPDX-License-Identifier: Apache-2.0
// Two engines on one backend, for tests of jobs. One runs the jobs, and can be stopped at any of
// its commits and views.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/admin/administration.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_lease.h"
#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/verify/verify.h"
#include "support/forwarding_store.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator::test {

// A process's store that can hold a commit or a view, or be cut off. It counts only calls of jobs,
// which run on other threads than the one that created it.
//
// Thread safety: every method can be called from any thread at once.
class HeldStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  // Lets the next `calls` calls pass. Later ones wait.
  void hold_after(int calls) {
    const std::lock_guard lock(mutex_);
    passing_ = calls;
  }
  bool is_holding() const {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty();
  }
  void let_go() {
    for (Call& call : take_waiting(State::kOpen)) call(true);
  }
  // From now on, every call fails, including the waiting ones.
  void cut() {
    for (Call& call : take_waiting(State::kCut)) call(false);
  }
  bool is_cut() const {
    const std::lock_guard lock(mutex_);
    return state_ == State::kCut;
  }
  // Runs before each commit of a request.
  void before_requests(std::function<void()> action) { before_requests_ = std::move(action); }
  // Whether a job has written rows of tables, indexes or backups since the last call.
  bool take_has_written() {
    const std::lock_guard lock(mutex_);
    return std::exchange(has_written_, false);
  }

  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    const bool is_job = std::this_thread::get_id() != requests_;
    pass_or_wait(is_job, [this, keys, decide = std::move(decide), done = std::move(done), expected,
                          is_job](bool passes) mutable {
      if (!passes) return done(refused());
      auto noted = [this, is_job, decide = std::move(decide)](GuardedRows rows) mutable {
        Batch batch = decide(rows);
        if (is_job) note(batch);
        return batch;
      };
      inner_->transact(keys, std::move(noted), std::move(done), expected);
    });
  }
  void write(Batch batch, CommitDone done, SchemaVersions expected) override {
    const bool is_job = std::this_thread::get_id() != requests_;
    pass_or_wait(is_job, [this, batch = std::move(batch), done = std::move(done), expected,
                          is_job](bool passes) mutable {
      if (!passes) return done(refused());
      if (is_job) note(batch);
      inner_->write(std::move(batch), std::move(done), expected);
    });
  }
  void with_view(ViewBody body, ReadDone done) override {
    const bool is_job = std::this_thread::get_id() != requests_;
    pass_or_wait(is_job, [this, body, done = std::move(done)](bool passes) mutable {
      if (!passes) return done(Failure(refused().error));
      inner_->with_view(body, std::move(done));
    });
  }
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    if (is_cut()) return done(Failure(refused().error));
    inner_->read(request, visit, std::move(done));
  }
  Result<void> drop_range(const KeyRange& range) override {
    if (refuses_erasures()) return Failure(refused().error);
    return inner_->drop_range(range);
  }

 private:
  enum class State { kOpen, kCut };
  using Call = std::move_only_function<void(bool passes)>;

  static CommitResult refused() {
    return {.outcome = CommitOutcome::kUnavailable,
            .error = {.code = Code::kUnavailable, .message = "cut off"}};
  }
  // Erasures do not wait. They fail while other calls would wait.
  bool refuses_erasures() const {
    const std::lock_guard lock(mutex_);
    const bool is_job = std::this_thread::get_id() != requests_;
    return state_ == State::kCut || (is_job && passing_ == 0);
  }
  std::vector<Call> take_waiting(State next) {
    const std::lock_guard lock(mutex_);
    state_ = next;
    passing_ = INT32_MAX;
    return std::exchange(waiting_, {});
  }
  void pass_or_wait(bool is_job, Call call) {
    if (!is_job && before_requests_) before_requests_();
    bool passes = true;
    {
      const std::lock_guard lock(mutex_);
      passes = state_ == State::kOpen;
      if (passes && is_job && passing_ == 0) return waiting_.push_back(std::move(call));
      if (is_job) --passing_;
    }
    call(passes);
  }
  void note(const Batch& batch) {
    const std::lock_guard lock(mutex_);
    for (const Write& write : batch.writes()) {
      const auto space = read_big_endian(std::string_view(write.key).substr(0, sizeof(SpaceId)));
      if (space >= kFirstTableSpace) has_written_ = true;
    }
  }

  const std::thread::id requests_ = std::this_thread::get_id();
  std::function<void()> before_requests_;
  mutable std::mutex mutex_;
  State state_ = State::kOpen;
  int passing_ = INT32_MAX;
  std::vector<Call> waiting_;
  bool has_written_ = false;
};

// `ours_` starts jobs; engine_ is another process.
class SharedJobs : public EngineTest {
 protected:
  // Functions for the kind of job under test. prepare() creates its data, start() starts it.
  // is_done() reports whether it has ended, as engine_ sees it. check() checks that it did all of
  // its work once.
  virtual void prepare() = 0;
  virtual void start(Engine& engine) = 0;
  virtual bool is_done() = 0;
  virtual void check() = 0;

  // Stops ours_ at each commit and view of the job, each time on a new backend. Then calls
  // `finish` with their number, which lets the other engine finish the job.
  void hold_at_each_call(const std::function<void(int call)>& finish) {
    for (int call = 0;; ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      ASSERT_LT(call, 1000);
      prepare();
      our_store_->hold_after(call);
      start(*ours_);
      ASSERT_TRUE(comes_true([&] { return our_store_->is_holding() || is_done(); }));
      if (!our_store_->is_holding()) {
        EXPECT_GT(call, 2);
        return;
      }
      finish(call);
      if (HasFatalFailure()) return;
      check();
      expect_sound();
      if (HasFailure()) return;
    }
  }
  // Calls `before` when ours_ is held, and `end` after the other engine has taken the lease and
  // finished the job.
  void stop_at_each_call(const std::function<void()>& before, const std::function<void()>& end) {
    hold_at_each_call([&](int call) {
      before();
      const bool had_ended = is_done();
      // The first commit acquires the lease.
      for (int i = 0; i < 3 && call > 0; ++i) {
        engine_->run_maintenance();
        EXPECT_EQ(is_done(), had_ended);
      }
      EXPECT_FALSE(call > 0 && their_store_->take_has_written());
      run_out_lease();
      ASSERT_TRUE(comes_true([&] { return is_done(); }));
      end();
    });
  }
  // The owner resumes after another one has finished the job. `meanwhile` runs until its job ends.
  void wake_up_ours(const std::function<void()>& meanwhile = [] {}) {
    our_store_->take_has_written();
    our_store_->let_go();
    EXPECT_TRUE(comes_true([&] {
      meanwhile();
      return ours_->stats().jobs == 0;
    }));
    EXPECT_FALSE(our_store_->take_has_written());
  }
  // Runs the maintenance of engine_ until it acquires the lease, which ours_ does not renew. Calls
  // `before_last` before the last run.
  void run_out_lease(const std::function<void()>& before_last = [] {}) {
    for (int64_t left_ms = kJobLeaseMs; left_ms > 0; left_ms -= kLeaseLookMs) {
      if (left_ms == kLeaseLookMs) before_last();
      clock_.advance(std::chrono::milliseconds(kLeaseLookMs));
      engine_->run_maintenance();
    }
  }
  void kill_ours() {
    our_store_->cut();
    ours_.reset();
  }

  static constexpr int kItems = 300;
  static constexpr int kFirstYear = 1000;

  SharedJobs() { std::filesystem::create_directories(buckets_ / "mine"); }
  ~SharedJobs() override {
    if (ours_) kill_ours();  // a test that failed can have left it stopped
    engine_.reset();
  }

  // Creates a backend with a table.
  void restart() {
    ours_.reset();
    engine_.reset();
    std::filesystem::remove_all(buckets_ / "mine" / "AWSDynamoDB");
    backend_ = std::make_unique<SharedBackend>(kSeed);
    ours_ = open_engine(our_store_);
    engine_ = open_engine(their_store_);
    CreateTableRequest songs = hash_table("Songs");
    songs.attributes.push_back({"genre", ScalarType::kS});
    songs.global_indexes = {index_on("byGenre", {{"genre", KeyType::kHash}})};
    create(songs);
    call(*engine_, admin::kUpdateContinuousBackups,
         {{"TableName", "Songs"},
          {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", true}}}});
    for (int i = 0; i < kItems; i += kBatch) {
      std::vector<WriteRequest> batch;
      for (int n = i; n < i + kBatch; ++n) batch.push_back({.put = song(n)});
      ASSERT_THAT(batch_write({.items = {{"Songs", std::move(batch)}}}), IsOk());
    }
    ASSERT_THAT(ours_->parts().catalog->refresh(), IsOk());
    moment_ms_ = clock_.unix_ms();
    clock_.advance(std::chrono::hours(1));
  }
  static Item song(int i) {
    return {{"pk", std::to_string(i)},
            {"genre", "folk"},
            {"year", std::to_string(kFirstYear + i)},
            {"expires", 4'000'000'000 + i}};
  }
  std::unique_ptr<Engine> open_engine(HeldStore*& store) {
    auto held = std::make_unique<HeldStore>(std::make_shared<SharedStore>(*backend_, ++seed_));
    store = held.get();
    return must(Engine::open(std::move(held),
                             {.clock = &clock_,
                              .buckets = buckets_,
                              .export_file_bytes = 9000,
                              .sweep_interval = {},
                              .retry_delay = [](int) { return std::chrono::milliseconds(0); },
                              .maintenance_interval = {}}));
  }

  static Item call(Engine& engine, const admin::Operation& operation, const Item& request) {
    auto answer = engine.administer(operation, request);
    EXPECT_THAT(answer, IsOk());
    return answer ? std::move(*answer) : Item();
  }
  // The items of a table or an index, by key, as the other process reads them.
  std::map<std::string, Item> items(const std::string& table,
                                    std::optional<std::string> index = {}) {
    std::map<std::string, Item> found;
    for (Item& item : all_pages(ScanRequest{.table = table, .index = std::move(index)})) {
      EXPECT_TRUE(found.emplace(to_debug_string(item.at("pk")), item).second);
    }
    return found;
  }

  bool has_dropped_spaces() {
    const std::string dropped = catalog_row_key(CatalogRow::kDropped);
    bool any = false;
    EXPECT_THAT(
        read_range(engine_->store(), {.range = {.begin = dropped, .end = prefix_end(dropped)}},
                   [&](std::string_view, std::string_view) { return !(any = true); }),
        IsOk());
    return any;
  }

  // All dropped spaces must be erased once an engine is opened, and the store must be valid.
  void expect_sound() {
    ours_.reset();
    engine_.reset();
    engine_ = open_engine(their_store_);
    EXPECT_TRUE(comes_true([&] { return !has_dropped_spaces(); }));
    engine_.reset();
    SharedStore store(*backend_, ++seed_);
    const std::string counters = catalog_row_key(CatalogRow::kCounters);
    ASSERT_THAT(store.drop_range({.begin = counters, .end = prefix_end(counters)}), IsOk());
    const VerifyReport report = verify(store, [](std::string_view, uint64_t, uint64_t) {});
    for (const Finding& finding : report.findings) ADD_FAILURE() << finding.message;
  }

  static constexpr uint32_t kSeed = 282;
  static constexpr int kBatch = 25;

  TempDir buckets_directory_;
  std::filesystem::path buckets_ = buckets_directory_.path();
  uint32_t seed_ = kSeed;
  int64_t moment_ms_ = 0;  // before an hour without writes
  std::unique_ptr<SharedBackend> backend_;
  HeldStore* our_store_ = nullptr;
  HeldStore* their_store_ = nullptr;
  std::unique_ptr<Engine> ours_;
};

}  // namespace stator::test
