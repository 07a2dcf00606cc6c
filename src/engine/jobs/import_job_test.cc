// SPDX-License-Identifier: Apache-2.0
// Imports of objects without items: their steps are as short as others.
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <set>

#include "api/admin/document.h"
#include "engine/admin/administration.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/testing/import_request.h"
#include "support/forwarding_store.h"
#include "support/must.h"

namespace stator::test {
namespace {

// A store on which each commit of a job waits for a turn of another job since the last commit.
class TurnsStore final : public ForwardingStore {
 public:
  explicit TurnsStore(std::shared_ptr<TransactStore> inner) : ForwardingStore(std::move(inner)) {}

  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    const bool is_job = std::this_thread::get_id() != requests_;
    if (is_job) wait_for_turn();
    ForwardingStore::transact(keys, std::move(decide), std::move(done), expected);
    if (is_job) count();
  }
  // The commits of the job that have ended.
  int commits() {
    const std::lock_guard lock(mutex_);
    return commits_;
  }
  // The other job has had a turn, which began after so many commits.
  void take_turn(int commits) {
    const std::lock_guard lock(mutex_);
    turn_ = commits;
    changed_.notify_all();
  }

 private:
  void wait_for_turn() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return turn_ >= commits_; });
  }
  void count() {
    const std::lock_guard lock(mutex_);
    ++commits_;
  }

  const std::thread::id requests_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  int commits_ = 0;
  int turn_ = -1;
};

class ImportsTest : public EngineTest {
 protected:
  ImportsTest() {
    std::filesystem::create_directories(buckets_ / "mine");
    reopen();
  }
  ~ImportsTest() override { engine_.reset(); }
  // Opens an engine on a new store.
  void reopen() {
    engine_.reset();
    seen_.clear();
    auto store = std::make_unique<TurnsStore>(make_memory_store());
    store_ = store.get();
    engine_ = must(Engine::open(
        std::move(store),
        {.clock = &clock_, .buckets = buckets_, .sweep_interval = {}, .maintenance_interval = {}}));
  }
  // Imports an object of `records` in one format, then one with an item.
  std::string import(const std::string& format, const std::string& records) {
    std::ofstream(buckets_ / "mine" / "rows.0") << records;
    std::ofstream(buckets_ / "mine" / "rows.1")
        << (format == "CSV" ? "pk\na\n" : R"({"Item":{"pk":{"S":"a"}}})");
    const auto begun = engine_->administer(admin::kImportTable, import_request("mine", format));
    EXPECT_THAT(begun, IsOk());
    return begun ? text_of(map_of(*begun, "ImportTableDescription"), "ImportArn") : "";
  }
  Item described(const std::string& arn) {
    return map_of(must(engine_->administer(admin::kDescribeImport, {{"ImportArn", arn}})),
                  "ImportTableDescription");
  }

  // Takes turns between the steps of the import, until it has ended. Each turn records how much the
  // import has stored.
  class Turns final : public Job {
   public:
    Turns(ImportsTest& test, const std::string& arn)
        : test_(test), key_(record_key(RecordKind::kImport, arn.substr(arn.rfind('/') + 1))) {}
    Result<JobState> step() override {
      // A request would wait for the catalog, which a commit of the import can have locked.
      const int commits = test_.store_->commits();
      STATOR_ASSIGN_OR_RETURN(const Item record, Records(*test_.store_).get(key_));
      test_.seen_.insert(integer_of(record, "Bytes"));
      const bool is_last = !is_open_job(record);
      test_.store_->take_turn(is_last ? INT32_MAX : commits);
      return is_last ? JobState::kDone : JobState::kMore;
    }
    Result<void> abandon(const Error&) override { return {}; }

   private:
    ImportsTest& test_;
    std::string key_;
  };
  void take_turns(const std::string& arn) {
    engine_->parts().jobs.add("turns", std::make_unique<Turns>(*this, arn));
  }

  std::filesystem::path buckets_ = directory_.path() / "buckets";
  TurnsStore* store_ = nullptr;
  std::set<int64_t> seen_;  // by the steps of Turns
};

struct Object {
  std::string name;
  std::string format;
  std::string bytes;
  int errors = 0;
};

std::string repeated(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(ImportsTest, AllowOtherJobsToRunWhileNoRecordIsAnItem) {
  constexpr int kRecords = 20'000;
  constexpr std::size_t kSteps = 8;  // at least as many
  const std::vector<Object> objects = {
      {"rows", "CSV", "pk\n" + repeated(kRecords, "too,many\n"), kRecords},
      {"items without a key", "DYNAMODB_JSON",
       repeated(kRecords, "{\"Item\":{\"other\":{\"S\":\"a\"}}}\n"), kRecords},
      {"empty lines", "DYNAMODB_JSON", std::string(kSteps << 20, '\n'), 0}};
  for (const Object& object : objects) {
    SCOPED_TRACE(object.name);
    reopen();
    const std::string arn = import(object.format, object.bytes);
    take_turns(arn);
    ASSERT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
    EXPECT_GE(seen_.size(), kSteps);
    const Item import = described(arn);
    EXPECT_EQ(text_of(import, "FailureCode"), object.errors > 0 ? "ItemValidationError" : "");
    EXPECT_EQ(integer_of(import, "ErrorCount"), object.errors);
    EXPECT_EQ(integer_of(import, "ProcessedItemCount"), object.errors + 1);
    EXPECT_EQ(integer_of(import, "ImportedItemCount"), 1);
  }
}

}  // namespace
}  // namespace stator::test
