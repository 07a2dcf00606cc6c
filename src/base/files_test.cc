// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

// At the file size limit, the first write is partial and the next one fails.
TEST(Files, WriteAllContinuesAfterAPartialWrite) {
  const test::TempDir directory;
  const Descriptor file(open((directory.path() / "file").c_str(), O_WRONLY | O_CREAT, 0600));
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{.rlim_cur = 2, .rlim_max = limit.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const bool written = write_all(file.get(), "abc");
  const int error = errno;
  setrlimit(RLIMIT_FSIZE, &limit);
  static_cast<void>(std::signal(SIGXFSZ, handler));
  EXPECT_FALSE(written);
  EXPECT_EQ(error, EFBIG);
  EXPECT_TRUE(write_all(file.get(), "cd"));
  EXPECT_EQ(std::filesystem::file_size(directory.path() / "file"), 4);
}

TEST(Files, WriteAllReportsTheReasonOfAFailure) {
  const Descriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  errno = 0;
  EXPECT_FALSE(write_all(full.get(), "x"));
  EXPECT_EQ(errno, ENOSPC);
}

TEST(Files, DescriptorsAreClosedUnlessReleased) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    const Descriptor from(ends[0]);
  }
  EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
  {
    Descriptor to(ends[1]);
    EXPECT_EQ(to.release(), ends[1]);
  }
  EXPECT_NE(fcntl(ends[1], F_GETFD), -1);
  close(ends[1]);
}

TEST(Files, FailuresReportWhetherAnotherAttemptCanSucceed) {
  const auto failed = [](int error) -> Result<void> { return file_failure("open", "a", error); };
  EXPECT_THAT(failed(ENOENT), FailsWith(Code::kNotFound, "could not open 'a': No such file"));
  for (const int error : {EACCES, EPERM, EROFS, ELOOP, ENAMETOOLONG, ENOTDIR, EISDIR}) {
    EXPECT_THAT(failed(error), FailsWith(Code::kAccessDenied, "could not open 'a'"));
  }
  for (const int error : {ENOSPC, EDQUOT, EMFILE, ENFILE, EIO, ENOMEM, EINTR}) {
    EXPECT_THAT(failed(error), FailsWith(Code::kIo, "could not open 'a'"));
  }
}

TEST(Files, SyncDirectoryNamesTheDirectoryThatIsMissing) {
  const test::TempDir directory;
  EXPECT_THAT(sync_directory(directory.path()), IsOk());
  EXPECT_THAT(sync_directory(directory.path() / "absent"), FailsWith(Code::kIo, "absent"));
}

}  // namespace
}  // namespace stator
