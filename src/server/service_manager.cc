// SPDX-License-Identifier: Apache-2.0
#include "server/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <system_error>

#include "base/files.h"

namespace stator::server {
namespace {

constexpr const char* kSocketVariable = "NOTIFY_SOCKET";

std::string_view socket_name() {
  const char* const name = std::getenv(kSocketVariable);
  return name == nullptr ? std::string_view() : name;
}

std::string text_of(ServiceState state) {
  switch (state) {
    case ServiceState::kReady:
      return "READY=1";
    case ServiceState::kStopping:
      return "STOPPING=1";
    case ServiceState::kReloading:
      break;
  }
  // The time distinguishes the end of this reload from that of an earlier one.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return "RELOADING=1\nMONOTONIC_USEC=" +
         std::to_string(now.tv_sec * 1'000'000 + now.tv_nsec / 1'000);
}

Failure could_not_report(int reason) {
  return fail(Code::kIo, "could not report to the service manager at '" +
                             std::string(socket_name()) +
                             "': " + std::generic_category().message(reason));
}

}  // namespace

bool has_service_manager() {
  return !socket_name().empty();
}

Result<void> report_state(ServiceState state) {
  const std::string_view name = socket_name();
  if (name.empty()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((name.front() != '/' && name.front() != '@') || name.size() >= sizeof address.sun_path) {
    return fail(Code::kInvalidArgument, "invalid NOTIFY_SOCKET '" + std::string(name) +
                                            "'; expected a path or an abstract name of at most " +
                                            std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  name.copy(address.sun_path, name.size());
  if (name.front() == '@') address.sun_path[0] = '\0';
  const auto address_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const Descriptor descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (descriptor.get() < 0) return could_not_report(errno);
  const std::string text = text_of(state);
  const ssize_t sent = sendto(descriptor.get(), text.data(), text.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), address_bytes);
  if (sent < 0) return could_not_report(errno);
  return {};
}

}  // namespace stator::server
