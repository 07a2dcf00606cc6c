// SPDX-License-Identifier: Apache-2.0
// Each request and each response is one packet. A request is 'b' and the target's path. A response
// is 'd' for done, or 'f' and the reason of the failure.
#include "server/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"

namespace stator::server {
namespace {

constexpr const char* kName = "control";
constexpr std::size_t kPacketBytesMax = 8192;  // more than any path
constexpr timeval kPatience = {.tv_sec = 5, .tv_usec = 0};

Failure io_failure(const std::filesystem::path& path) {
  return fail(Code::kIo,
              "cannot open the socket in '" + path.string() + "': " + std::strerror(errno));
}

// Uses a descriptor of the directory, because a socket address has space only for short paths.
sockaddr_un address_in(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + kName;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

bool may_ask(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

std::string receive(int connection) {
  std::string packet(kPacketBytesMax, '\0');
  const ssize_t size = recv(connection, packet.data(), packet.size(), 0);
  packet.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return packet;
}

bool send_packet(int connection, std::string_view packet) {
  packet = packet.substr(0, kPacketBytesMax);
  return send(connection, packet.data(), packet.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(packet.size());
}

int open_directory(const std::filesystem::path& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(const std::filesystem::path& data,
                                                           Backup backup) {
  Descriptor directory(open_directory(data));
  if (directory.get() < 0) return io_failure(data);
  Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  Descriptor stop(eventfd(0, EFD_CLOEXEC));
  if (listener.get() < 0 || stop.get() < 0) return io_failure(data);
  // An existing socket was left by a crashed process, because this process holds the lock.
  unlinkat(directory.get(), kName, 0);
  const sockaddr_un address = address_in(directory.get());
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      fchmodat(directory.get(), kName, 0600, 0) != 0 || listen(listener.get(), 4) != 0) {
    return io_failure(data);
  }
  return std::unique_ptr<ControlSocket>(new ControlSocket(std::move(directory), std::move(listener),
                                                          std::move(stop), std::move(backup)));
}

ControlSocket::ControlSocket(Descriptor directory, Descriptor listener, Descriptor stop,
                             Backup backup)
    : directory_(std::move(directory)),
      listener_(std::move(listener)),
      stop_(std::move(stop)),
      backup_(std::move(backup)) {
  thread_ = std::thread([this] { run(); });
}

ControlSocket::~ControlSocket() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
  unlinkat(directory_.get(), kName, 0);
}

void ControlSocket::run() {
  std::array<pollfd, 2> polled = {{{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  for (;;) {
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    if (polled[1].revents != 0) return;
    const Descriptor connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.get() >= 0) serve(connection.get());
  }
}

void ControlSocket::serve(int connection) const {
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (!may_ask(connection)) {
    send_packet(connection, "fit takes requests of its own user and of root only");
    return;
  }
  try {
    const std::string request = receive(connection);
    if (!request.starts_with('b')) return;
    const auto done = backup_(request.substr(1));
    send_packet(connection, done ? "d" : "f" + done.error().message);
  } catch (const std::exception&) {
    send_packet(connection, "fout of memory");
  }
}

Result<void> request_backup(const std::filesystem::path& data,
                            const std::filesystem::path& target) {
  const Descriptor directory(open_directory(data));
  if (directory.get() < 0) return io_failure(data);
  const Descriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (connection.get() < 0) return io_failure(data);
  const sockaddr_un address = address_in(directory.get());
  if (connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(Code::kUnavailable, "the process that has '" + data.string() +
                                        "' open takes no requests for backups; stop it first, or "
                                        "let it make the backup itself");
  }
  const std::string request = "b" + target.string();
  if (request.size() > kPacketBytesMax) {
    return fail(Code::kInvalidArgument, "the path of the backup is too long");
  }
  const std::string response =
      send_packet(connection.get(), request) ? receive(connection.get()) : "";
  if (response == "d") return {};
  if (response.starts_with('f')) return fail(Code::kIo, response.substr(1));
  return fail(Code::kUnavailable, "the process that has '" + data.string() +
                                      "' open ended before the backup was complete");
}

}  // namespace stator::server
