// SPDX-License-Identifier: Apache-2.0
// Imports, exports and bulk puts whose system calls on the files of a bucket fail, each in turn.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "engine/jobs/job_faults_harness.h"
#include "transfer/bucket.h"

namespace {

// Selects the system calls that fail: of jobs, which run on other threads than the one that created
// it, on files in one directory.
class SystemCalls {
 public:
  void watch(std::string directory) {
    const std::lock_guard lock(mutex_);
    directory_ = std::move(directory);
    fail_at(INT32_MAX, 0);
  }
  // All calls from this one on fail, if `lasts`.
  void fail_from(int call, int error, bool lasts) {
    const std::lock_guard lock(mutex_);
    lasts_ = lasts;
    fail_at(call, error);
  }
  // Files can be created, but only small writes succeed.
  void fill_disk() {
    const std::lock_guard lock(mutex_);
    disk_is_full_ = true;
  }
  void mend() { fail_from(INT32_MAX, 0, false); }
  bool has_failed() const {
    const std::lock_guard lock(mutex_);
    return next_ > at_;
  }

  // Whether a call succeeds. Otherwise sets errno.
  bool pass(std::string_view path) {
    const std::lock_guard lock(mutex_);
    return !is_in_directory(path) || pass_next();
  }
  bool pass(int descriptor) {
    const std::lock_guard lock(mutex_);
    return !descriptors_.contains(descriptor) || pass_next();
  }
  bool pass_write(int descriptor, std::size_t size) {
    if (!pass(descriptor)) return false;
    const std::lock_guard lock(mutex_);
    constexpr std::size_t kSmall = 32;  // a header of gzip
    if (!disk_is_full_ || size <= kSmall || !descriptors_.contains(descriptor)) return true;
    errno = ENOSPC;
    return false;
  }
  int opened(int parent, std::string_view path, int descriptor) {
    const std::lock_guard lock(mutex_);
    descriptors_.erase(descriptor);
    if (is_in_directory(path) || descriptors_.contains(parent)) descriptors_.insert(descriptor);
    return descriptor;
  }

 private:
  bool is_in_directory(std::string_view path) const {
    return !directory_.empty() && path.starts_with(directory_);
  }
  bool pass_next() {
    if (std::this_thread::get_id() == requests_) return true;
    const int call = next_++;
    if (call != at_ && !(lasts_ && call > at_)) return true;
    errno = error_;
    return false;
  }
  void fail_at(int call, int error) {
    next_ = 0;
    disk_is_full_ = false;
    at_ = call;
    error_ = error;
  }

  const std::thread::id requests_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  std::string directory_;
  std::set<int> descriptors_;
  int next_ = 0;
  int at_ = INT32_MAX;
  int error_ = 0;
  bool lasts_ = false;
  bool disk_is_full_ = false;
};

SystemCalls& system_calls() {
  static SystemCalls calls;
  return calls;
}

template <class Function>
Function* system_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

mode_t mode_in(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// Replaces these functions of the system.
extern "C" {

int openat(int parent, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  if (!(path[0] == '/' ? system_calls().pass(path) : system_calls().pass(parent))) return -1;
  static auto* const call = system_function<int(int, const char*, int, ...)>("openat");
  return system_calls().opened(parent, path, call(parent, path, flags, mode));
}
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  return openat(AT_FDCWD, path, flags, mode);
}
ssize_t read(int descriptor, void* buffer, std::size_t size) {
  if (!system_calls().pass(descriptor)) return -1;
  static auto* const call = system_function<ssize_t(int, void*, std::size_t)>("read");
  return call(descriptor, buffer, size);
}
ssize_t write(int descriptor, const void* buffer, std::size_t size) {
  if (!system_calls().pass_write(descriptor, size)) return -1;
  static auto* const call = system_function<ssize_t(int, const void*, std::size_t)>("write");
  return call(descriptor, buffer, size);
}
int fsync(int descriptor) {  // fast: nothing has to survive a power failure
  return system_calls().pass(descriptor) ? 0 : -1;
}
int fstat(int descriptor, struct stat* status) {
  if (!system_calls().pass(descriptor)) return -1;
  static auto* const call = system_function<int(int, struct stat*)>("fstat");
  return call(descriptor, status);
}
int lstat(const char* path, struct stat* status) {
  if (!system_calls().pass(path)) return -1;
  static auto* const call = system_function<int(const char*, struct stat*)>("lstat");
  return call(path, status);
}
dirent* readdir(DIR* directory) {
  if (!system_calls().pass(dirfd(directory))) return nullptr;
  static auto* const call = system_function<dirent*(DIR*)>("readdir");
  return call(directory);
}
int mkdir(const char* path, mode_t mode) {
  if (!system_calls().pass(path)) return -1;
  static auto* const call = system_function<int(const char*, mode_t)>("mkdir");
  return call(path, mode);
}
int rename(const char* from, const char* to) {
  if (!system_calls().pass(to)) return -1;
  static auto* const call = system_function<int(const char*, const char*)>("rename");
  return call(from, to);
}

}  // extern "C"

namespace stator::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class FileFaults : public JobFaults {
 protected:
  FileFaults() { system_calls().watch(buckets_ / "mine"); }
  ~FileFaults() override {
    engine_.reset();
    system_calls().watch("");
  }

  // Runs a job once for each of its calls, which fails.
  void fail_each_call(const std::function<void()>& job) {
    for (const int error : {ENOSPC, EMFILE, EIO}) {
      for (int call = 0;; ++call) {
        SCOPED_TRACE("call " + std::to_string(call) + ", error " + std::to_string(error));
        ASSERT_LT(call, 1000);
        restart();
        system_calls().fail_from(call, error, /*lasts=*/false);
        job();
        if (HasFailure()) return;
        if (system_calls().has_failed()) continue;
        EXPECT_GT(call, 5);
        break;
      }
    }
  }
  // An import of several batches, whose object needs several reads.
  static constexpr int kRows = 1000;
  std::string import_rows() { return import(kRows, std::string(200, 'x')); }
  void expect_imported(const std::string& arn) {
    const Item import = ended([&] { return described_import(arn); }, "ImportStatus");
    EXPECT_EQ(text_of(import, "ImportStatus"), "COMPLETED");
    EXPECT_EQ(integer_of(import, "ErrorCount"), 0);
    EXPECT_EQ(integer_of(import, "ProcessedItemCount"), kRows);
    EXPECT_EQ(count("New"), kRows);
  }
  void expect_exported(const std::string& arn) {
    const Item exported = ended([&] { return described_export(arn); }, "ExportStatus");
    EXPECT_EQ(text_of(exported, "ExportStatus"), "COMPLETED");
    EXPECT_EQ(integer_of(exported, "ItemCount"), kItems + 1);
    EXPECT_TRUE(std::filesystem::exists(buckets_ / "mine" / text_of(exported, "ExportManifest")));
  }
};

TEST_F(FileFaults, AnImportSurvivesAFailureOfAnyCall) {
  fail_each_call([&] { expect_imported(import_rows()); });
}

TEST_F(FileFaults, AnExportSurvivesAFailureOfAnyCall) {
  fail_each_call([&] { expect_exported(export_table({})); });
}

TEST_F(FileFaults, BulkPutsSurviveAFailureOfAnyCall) {
  fail_each_call([&] { expect_ended_bulk_puts(start_bulk_puts()); });
}

// An export begins its file again after each failure. These steps succeed, but the pauses grow.
TEST_F(FileFaults, AnExportPausesLongerWhileTheDiskIsFullAndReportsWhy) {
  system_calls().fill_disk();
  const std::string arn = export_table({});
  ASSERT_TRUE(comes_true([&] { return most_failures_ >= 10; }));
  EXPECT_THAT(text_of(described_export(arn), "FailureMessage"), HasSubstr(std::strerror(ENOSPC)));
  system_calls().mend();
  expect_exported(arn);
}

TEST_F(FileFaults, APermanentFailureEndsTheJob) {
  for (const auto& [error, code] : {std::pair{EACCES, "S3AccessDenied"},
                                    {EROFS, "S3AccessDenied"},
                                    {ENOENT, "S3NoSuchBucket"}}) {
    restart();
    system_calls().fail_from(0, error, /*lasts=*/true);
    const std::string import_arn = import();
    const Item imported = ended([&] { return described_import(import_arn); }, "ImportStatus");
    EXPECT_EQ(text_of(imported, "FailureCode"), code);
    const std::string export_arn = export_table({});
    const Item exported = ended([&] { return described_export(export_arn); }, "ExportStatus");
    EXPECT_EQ(text_of(exported, "FailureCode"), code);
  }
}

}  // namespace
}  // namespace stator::test
