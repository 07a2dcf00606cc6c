// SPDX-License-Identifier: Apache-2.0
// Echo: what a round trip takes on this machine at the moment, without the work of a server. A
// thread responds to each byte with a byte; before that it syncs a file, if a path is given.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "support/loopback_listener.h"
#include "support/raw_connection.h"

namespace stator::test {

class Echo {
 public:
  explicit Echo(const std::filesystem::path& synced)
      : listener_([synced](int client, const std::stop_token&) { serve(client, synced); }),
        client_(listener_.port()) {}

  bool call() {
    char byte = 0;
    return client_.send("x") && ::recv(client_.descriptor(), &byte, 1, 0) == 1;
  }

 private:
  static void serve(int client, const std::filesystem::path& synced) {
    const int file =
        synced.empty() ? -1 : ::open(synced.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    const std::array<char, 512> record{};
    for (char byte = 0; ::recv(client, &byte, 1, 0) == 1;) {
      const bool ready =
          file < 0 || (::write(file, record.data(), record.size()) > 0 && ::fdatasync(file) == 0);
      if (!ready || !send_all(client, "x")) break;
    }
    ::close(client);
    if (file >= 0) ::close(file);
  }

  LoopbackListener listener_;
  RawConnection client_;
};

}  // namespace stator::test
