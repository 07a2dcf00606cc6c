// SPDX-License-Identifier: Apache-2.0
// stator health: asks a server's GET /health/ready, for health checks of containers, in which there
// is no other HTTP client.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/commands.h"
#include "cli/duration.h"
#include "server/listen_address.h"

namespace stator::cli {
namespace {

constexpr std::size_t kAnswerBytesMax = 16UL << 10;

struct HealthFlags {
  std::string address = "127.0.0.1:8000";
  std::chrono::milliseconds timeout{3'000};
};

class Socket {
 public:
  explicit Socket(int family) : descriptor_(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  // For each wait: connecting, sending, receiving.
  void limit_waits(std::chrono::milliseconds timeout) const {
    const timeval limit{.tv_sec = timeout.count() / 1'000,
                        .tv_usec = timeout.count() % 1'000 * 1'000};
    setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

bool connect_to(const Socket& socket, const server::ListenAddress& server) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(server.port);
  if (inet_pton(AF_INET, server.host.c_str(), &v4.sin_addr) == 1) {
    return connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4) == 0;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(server.port);
  inet_pton(AF_INET6, server.host.c_str(), &v6.sin6_addr);
  return connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&v6), sizeof v6) == 0;
}

Failure no_answer(const server::ListenAddress& server, int reason) {
  const bool timed_out = reason == EAGAIN || reason == EINPROGRESS;
  return fail(Code::kIo, "no answer from " + server.to_string() + ": " +
                             (timed_out ? "timed out" : std::generic_category().message(reason)));
}

// The whole answer: its headers and its body.
Result<std::string> ask(const server::ListenAddress& server, std::chrono::milliseconds timeout) {
  const Socket socket(server.host.find(':') == server.host.npos ? AF_INET : AF_INET6);
  socket.limit_waits(timeout);
  const std::string question =
      "GET /health/ready HTTP/1.1\r\nHost: " + server.to_string() + "\r\nConnection: close\r\n\r\n";
  if (!connect_to(socket, server) ||
      send(socket.descriptor(), question.data(), question.size(), MSG_NOSIGNAL) < 0) {
    return no_answer(server, errno);
  }
  std::string answer;
  std::array<char, 4096> buffer{};
  while (answer.size() < kAnswerBytesMax) {
    const ssize_t count = recv(socket.descriptor(), buffer.data(), buffer.size(), 0);
    if (count < 0) return no_answer(server, errno);
    if (count == 0) break;
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return answer;
}

int check_health(const HealthFlags& flags) {
  const auto server = server::parse_listen_address(flags.address);
  if (!server) return report(server.error());
  const auto answer = ask(*server, flags.timeout);
  if (!answer) return report(answer.error());
  const std::size_t head = answer->find("\r\n\r\n");
  if (!answer->starts_with("HTTP/1.1 ") || head == answer->npos) {
    return report({.code = Code::kIo,
                   .message = server->to_string() + " does not answer in HTTP; for a server with "
                                                    "TLS, give the address of its --metrics"});
  }
  const std::string body = one_line(std::string_view(*answer).substr(head + 4));
  if (!answer->starts_with("HTTP/1.1 200 ")) {
    return report({.code = Code::kIo, .message = body});
  }
  std::printf("%s\n", body.c_str());
  return kSuccess;
}

}  // namespace

void add_health(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<HealthFlags>();
  CLI::App* command = app.add_subcommand(
      "health", "Check that a server takes writes; exit status 1 if it does not");
  command
      ->add_option("address", flags->address,
                   "Where the server listens, or the address of its --metrics")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  add_duration(*command, "--timeout", flags->timeout, "Longest wait for each step of the answer",
               std::chrono::milliseconds(1), std::chrono::hours(1));
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return check_health(*flags); }; });
}

}  // namespace stator::cli
