// SPDX-License-Identifier: Apache-2.0
// Exports while two engines share a store and the directory of the bucket. The bucket has exactly
// the files that the manifests name, even if both engines write at the same time.
#include <fstream>
#include <set>
#include <sstream>

#include "api/admin/document.h"
#include "engine/jobs/shared_jobs_harness.h"
#include "transfer/data_file.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;

class ExportSharing : public SharedJobs, public ::testing::WithParamInterface<std::string> {
 protected:
  void prepare() override {
    restart();
    manifest_.clear();
  }

  void start(Engine& engine) override {
    started_ms_ = clock_.unix_ms();
    Item request{{"TableArn", "arn:aws:dynamodb:us-east-1:000000782867:table/Songs"},
                 {"S3Bucket", "mine"}};
    if (GetParam() == "incremental") {
      request["ExportType"] = "INCREMENTAL_EXPORT";
      request["IncrementalExportSpecification"] =
          Item{{"ExportFromTime", moment_ms_}, {"ExportToTime", started_ms_}};
    } else {
      request["ExportTime"] = started_ms_;
    }
    const Item answer = call(engine, admin::kExportTableToPointInTime, request);
    export_ = text_of(map_of(answer, "ExportDescription"), "ExportArn");
  }

  bool is_done() override { return text_of(described(), "ExportStatus") == "COMPLETED"; }

  // Each file in the manifest is complete, together they contain each item once, and the bucket has
  // no other files.
  void check() override {
    const Item description = described();
    EXPECT_EQ(integer_of(description, "ItemCount"), kItems);
    const transfer::Bucket bucket = *transfer::Bucket::open(buckets_, "mine");
    const std::string summary = text_of(description, "ExportManifest");
    EXPECT_THAT(manifest(), ::testing::StartsWith(manifest_));
    const std::string directory = summary.substr(0, summary.rfind('/') + 1);
    std::set<std::string> expected = {
        summary, directory + "_started", directory + "manifest-summary.md5",
        directory + "manifest-files.json", directory + "manifest-files.md5"};
    for (const char* name : {"manifest-summary", "manifest-files"}) {
      EXPECT_EQ(bytes_of(bucket, directory + name + ".md5"),
                transfer::checksum_of(bytes_of(bucket, directory + name + ".json")));
    }
    std::multiset<std::string> years;
    std::istringstream files(bytes_of(bucket, directory + "manifest-files.json"));
    for (std::string file; std::getline(files, file);) {
      const std::string key = member(file, "dataFileS3Key");
      EXPECT_TRUE(expected.insert(key).second);
      EXPECT_EQ(member(file, "md5Checksum"), transfer::checksum_of(bytes_of(bucket, key)));
      std::istringstream lines(bytes_of(bucket, key, transfer::Compression::kGzip));
      for (std::string line; std::getline(lines, line);) {
        years.insert(member(line.substr(line.find("\"year\":")), "S"));
      }
    }
    std::multiset<std::string> expected_years;
    for (int i = 0; i < kItems; ++i) expected_years.insert(as_text(song(i).at("year")));
    EXPECT_EQ(years, expected_years);
    EXPECT_GT(expected.size(), 8U);
    const auto keys = *bucket.keys("");
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()), expected);
  }

  // Writes after the export's time change which rows an owner reads at a time.
  void write_more() {
    for (int i = 0; i < 100; ++i) {
      ASSERT_THAT(put("Songs", {{"pk", "later " + std::to_string(i)}}), IsOk());
      ASSERT_THAT(erase({.table = "Songs", .key = {{"pk", std::to_string(i * 3)}}}), IsOk());
    }
  }

  // A killed process leaves the file that it was writing.
  void kill_ours_while_it_writes() {
    std::vector<fs::path> incomplete;
    for (const auto& entry : fs::recursive_directory_iterator(buckets_)) {
      if (entry.path().extension() == ".part") incomplete.push_back(entry.path());
    }
    kill_ours();
    for (const fs::path& path : incomplete) std::ofstream(path) << "incomplete";
  }

  Item described() {
    return map_of(call(*engine_, admin::kDescribeExport, {{"ExportArn", export_}}),
                  "ExportDescription");
  }
  static std::string member(const std::string& json, const std::string& name) {
    const std::string begin = "\"" + name + "\":\"";
    const std::size_t at = json.find(begin) + begin.size();
    return json.substr(at, json.find('"', at) - at);
  }
  static std::string bytes_of(const transfer::Bucket& bucket, const std::string& key,
                              transfer::Compression compression = transfer::Compression::kNone) {
    auto file = bucket.read(key);
    EXPECT_THAT(file, IsOk()) << key;
    if (!file) return "";
    const auto bytes = transfer::unfolded(std::move(*file), compression);
    EXPECT_THAT(bytes, IsOk()) << key;
    std::string all;
    std::string buffer(1UL << 16, '\0');
    while (const std::size_t count = (*bytes)->read(buffer).value_or(0)) {
      all.append(buffer, 0, count);
    }
    return all;
  }

  // Returns the manifest, or an empty string before it is written.
  std::string manifest() {
    const transfer::Bucket bucket = *transfer::Bucket::open(buckets_, "mine");
    const auto keys = *bucket.keys("");
    const auto found = std::ranges::find_if(
        keys, [](const std::string& key) { return key.ends_with("/manifest-summary.json"); });
    return found == keys.end() ? "" : bytes_of(bucket, *found);
  }

  int64_t started_ms_ = 0;
  std::string manifest_;  // written by an owner whose job had not finished
  std::string export_;
};

TEST_P(ExportSharing, AnotherEngineFinishesTheExportOfACrashedOne) {
  stop_at_each_call(
      [&] {
        write_more();
        kill_ours_while_it_writes();
      },
      [] {});
}

// The table has been dropped by then, so the rows that the owner still reads are missing.
TEST_P(ExportSharing, AnOwnerThatWakesUpAfterItsLeaseChangesNothing) {
  stop_at_each_call(
      [&] {
        write_more();
        manifest_ = manifest();
      },
      [&] {
        ASSERT_THAT(engine_->delete_table({.table = "Songs"}), IsOk());
        engine_->run_maintenance();
        ASSERT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
        wake_up_ours();
      });
}

// The first owner resumes while the second one is working.
TEST_P(ExportSharing, TwoOwnersThatWriteAtTheSameTimeWriteTheSame) {
  for (int call = 0;; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    prepare();
    our_store_->hold_after(call);
    start(*ours_);
    ASSERT_TRUE(comes_true([&] { return our_store_->is_holding() || is_done(); }));
    if (!our_store_->is_holding()) break;
    write_more();
    engine_->run_maintenance();
    run_out_lease();
    our_store_->let_go();
    ASSERT_TRUE(comes_true([&] { return is_done() && ours_->stats().jobs == 0; }));
    check();
    expect_sound();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Exports, ExportSharing, ::testing::Values("full", "incremental"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace stator::test
