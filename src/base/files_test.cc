// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

TEST(Files, WriteAllGoesOnWhereAPipeWasFull) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const std::string bytes(1 << 20, 'x');  // more than a pipe holds
  std::string read_back;
  std::jthread reader([&] {
    char buffer[4096];
    for (ssize_t count; (count = read(from.get(), buffer, sizeof buffer)) > 0;) {
      read_back.append(buffer, static_cast<std::size_t>(count));
    }
  });
  EXPECT_TRUE(write_all(to.get(), bytes));
  close(to.release());
  reader.join();
  EXPECT_EQ(read_back, bytes);
}

TEST(Files, WriteAllTellsWhyItFailed) {
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

TEST(Files, SyncDirectoryNamesTheDirectoryThatIsMissing) {
  const test::TempDir directory;
  EXPECT_THAT(sync_directory(directory.path()), IsOk());
  EXPECT_THAT(sync_directory(directory.path() / "absent"), FailsWith(Code::kIo, "absent"));
}

}  // namespace
}  // namespace stator
