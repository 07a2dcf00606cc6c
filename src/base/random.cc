// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <sys/random.h>

#include <cerrno>

#include "base/check.h"
#include "base/hex.h"

namespace stator {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = getrandom(bytes.data() + done, count - done, 0);
    STATOR_CHECK(got > 0 || errno == EINTR);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::string random_uuid() {
  std::string bytes = random_bytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string uuid = hex(bytes);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) uuid.insert(dash, 1, '-');
  return uuid;
}

}  // namespace stator
