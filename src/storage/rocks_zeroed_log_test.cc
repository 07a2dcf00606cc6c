// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_zeroed_log.h"

#include <gtest/gtest.h>

#include <set>

#include "support/read_file.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// A file whose writes fail on demand.
class FailingFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FailingFile(std::unique_ptr<rocksdb::FSWritableFile> file, const bool& fails)
      : FSWritableFileOwnerWrapper(std::move(file)), fails_(fails) {}
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    if (!fails_) return target()->Append(data, options, debug);
    target()->Append({data.data(), data.size() / 2}, options, debug).PermitUncheckedError();
    return IOStatus::NoSpace();
  }
  IOStatus PositionedAppend(const rocksdb::Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* debug) override {
    if (fails_) return IOStatus::NoSpace();
    return target()->PositionedAppend(data, offset, options, debug);
  }

 private:
  const bool& fails_;
};

class ZeroedLog : public testing::Test {
 protected:
  ZeroedLog() {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(rocksdb::FileSystem::Default()->NewWritableFile(path_, {}, &file, nullptr).ok());
    log_ =
        make_zeroed_log(std::make_unique<FailingFile>(std::move(file), fails_), logs_.add(path_));
  }
  bool append(const std::string& record) {
    const bool appended = log_->Append(record, {}, nullptr).ok();
    if (appended) records_ += record;
    return appended;
  }
  std::string zeros() const {
    const std::string bytes = test::read_file(path_);
    EXPECT_EQ(bytes.substr(0, records_.size()), records_);
    return bytes.substr(records_.size());
  }

  const test::TempDir directory_;
  const std::string path_ = (directory_.path() / "000001.log").string();
  OpenLogs logs_;
  bool fails_ = false;
  std::string records_;
  std::unique_ptr<rocksdb::FSWritableFile> log_;
};

TEST_F(ZeroedLog, GrowsInLargeStepsOnly) {
  std::set<std::size_t> sizes;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(append(std::string(1000, static_cast<char>('a' + i % 26))));
    sizes.insert(test::read_file(path_).size());
    EXPECT_EQ(logs_.size_of(path_), records_.size());
  }
  EXPECT_EQ(sizes.size(), 4U);
  EXPECT_EQ(zeros().find_first_not_of('\0'), std::string::npos);
}

TEST_F(ZeroedLog, EndsWithItsLastRecordOnceItIsClosed) {
  ASSERT_TRUE(append("a record"));
  EXPECT_GT(zeros().size(), 100'000U);
  ASSERT_TRUE(log_->Close({}, nullptr).ok());
  EXPECT_EQ(zeros(), "");
  log_.reset();
  EXPECT_EQ(logs_.size_of(path_), std::nullopt);
}

TEST_F(ZeroedLog, HasNoZerosAfterLargeRecords) {
  ASSERT_TRUE(append(std::string(100'000, 'x')));
  EXPECT_EQ(zeros(), "");
}

TEST_F(ZeroedLog, IsNotTruncatedAfterAFailedWrite) {
  ASSERT_TRUE(append("a record"));
  fails_ = true;
  EXPECT_FALSE(append("one that fails"));
  fails_ = false;
  ASSERT_TRUE(log_->Append("the next", {}, nullptr).ok());
  ASSERT_TRUE(log_->Close({}, nullptr).ok());
  EXPECT_EQ(test::read_file(path_).substr(0, 23), "a recordone thathe next") << "it was cut";
}

}  // namespace
}  // namespace stator
