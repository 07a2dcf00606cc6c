// SPDX-License-Identifier: Apache-2.0
// A counter in a file, as an external resource that fencing tokens protect. It rejects each token
// that is less than the highest one seen.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>

namespace stator::test {

class GuardedFile {
 public:
  struct Content {
    int64_t highest_fence = 0;
    int64_t value = 0;   // incremented by writers: read, add one, write
    int64_t writes = 0;  // counted by the file itself
    int64_t refused = 0;
  };

  explicit GuardedFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
  GuardedFile(const GuardedFile&) = delete;
  GuardedFile& operator=(const GuardedFile&) = delete;
  ~GuardedFile() { close(descriptor_); }

  // Returns the value; absent if the token is too small. From then on, smaller tokens are rejected.
  std::optional<int64_t> read(int64_t fence) {
    return with_lock(fence, [](Content&) {});
  }
  bool write(int64_t fence, int64_t value) {
    return with_lock(fence,
                     [&](Content& content) {
                       content.value = value;
                       ++content.writes;
                     })
        .has_value();
  }
  Content content() const {
    Content content;
    (void)!pread(descriptor_, &content, sizeof content, 0);
    return content;
  }

 private:
  template <class F>
  std::optional<int64_t> with_lock(int64_t fence, F change) {
    flock(descriptor_, LOCK_EX);
    Content now = content();
    const bool good = fence >= now.highest_fence;
    if (good) {
      now.highest_fence = fence;
      change(now);
    } else {
      ++now.refused;
    }
    (void)!pwrite(descriptor_, &now, sizeof now, 0);  // one call: a kill leaves all or nothing
    flock(descriptor_, LOCK_UN);
    return good ? std::optional(now.value) : std::nullopt;
  }

  int descriptor_;
};

}  // namespace stator::test
