// SPDX-License-Identifier: Apache-2.0
#include "client/scripted_service.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace stator::test {
namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string text_of(const ScriptStep& step) {
  return "HTTP/1.1 " + std::to_string(step.status) + " Scripted\r\n" + step.headers +
         "Content-Type: application/x-amz-json-1.0\r\nContent-Length: " +
         std::to_string(step.body.size()) + "\r\n\r\n" + step.body;
}

SeenRequest parse_head(std::string_view head) {
  SeenRequest request;
  const std::size_t first = head.find("\r\n");
  request.start_line = head.substr(0, first);
  for (std::size_t at = first + 2; at < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    const std::string_view line = head.substr(at, end - at);
    const std::size_t colon = line.find(':');
    must(colon != std::string_view::npos);
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    request.headers[name] = value;
    at = end + 2;
  }
  return request;
}

}  // namespace

ScriptStep answer(int status, std::string body, std::string headers) {
  return {.status = status, .body = std::move(body), .headers = std::move(headers)};
}

ScriptStep refusal(int status, std::string_view exception, std::string_view message) {
  return answer(status, R"({"__type":"com.amazonaws.dynamodb.v20120810#)" + std::string(exception) +
                            R"(","message":")" + std::string(message) + R"("})");
}

ScriptedService::ScriptedService(std::vector<ScriptStep> script)
    : script_(script.begin(), script.end()) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  must(bind(listener_, generic, length) == 0 && listen(listener_, 16) == 0);
  must(getsockname(listener_, generic, &length) == 0 && pipe(stop_pipe_) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

ScriptedService::~ScriptedService() {
  close(stop_pipe_[1]);
  thread_.join();
  close(stop_pipe_[0]);
  close(listener_);
}

std::string ScriptedService::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

std::vector<SeenRequest> ScriptedService::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int ScriptedService::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

ScriptStep ScriptedService::next_step() {
  const std::lock_guard lock(mutex_);
  if (script_.empty()) return answer(500, R"({"message":"the script is over"})");
  ScriptStep step = std::move(script_.front());
  script_.pop_front();
  return step;
}

void ScriptedService::serve() {
  for (;;) {
    std::array<pollfd, 2> polled = {{{listener_, POLLIN, 0}, {stop_pipe_[0], POLLIN, 0}}};
    poll(polled.data(), polled.size(), -1);
    if (polled[1].revents != 0) return;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0 && errno == EINVAL) return;  // kDropAndLeave
    if (connection < 0) continue;
    {
      const std::lock_guard lock(mutex_);
      ++connections_;
    }
    while (serve_one(connection)) {
    }
    close(connection);
    ++closed_;
    closed_.notify_all();
  }
}

void ScriptedService::await_closed(int connections) const {
  for (int now = closed_; now < connections; now = closed_) closed_.wait(now);
}

bool ScriptedService::serve_one(int connection) {
  std::optional<SeenRequest> request = read_request(connection);
  if (!request) return false;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(*std::move(request));
  }
  const ScriptStep step = next_step();
  const std::string text = text_of(step);
  switch (step.kind) {
    case ScriptStep::Kind::kAnswer:
      return send_all(connection, text);
    case ScriptStep::Kind::kAnswerThenClose:
      send_all(connection, text);
      return false;
    case ScriptStep::Kind::kDrop:
      return false;
    case ScriptStep::Kind::kDropAndLeave:
      shutdown(listener_, SHUT_RDWR);
      return false;
    case ScriptStep::Kind::kDropHalfway:
      send_all(connection, std::string_view(text).substr(0, text.size() - 1));
      return false;
    case ScriptStep::Kind::kSilence:
      wait_until_gone(connection);
      return false;
  }
  return false;
}

void ScriptedService::wait_until_gone(int connection) const {
  std::array<pollfd, 2> polled = {{{connection, POLLIN, 0}, {stop_pipe_[0], POLLIN, 0}}};
  poll(polled.data(), polled.size(), -1);
}

std::optional<SeenRequest> ScriptedService::read_request(int connection) const {
  std::string bytes;
  std::optional<SeenRequest> request;
  std::size_t body_size = 0;
  for (;;) {
    const std::size_t head_end = bytes.find("\r\n\r\n");
    if (!request && head_end != std::string::npos) {
      request = parse_head(std::string_view(bytes).substr(0, head_end));
      body_size = std::stoul(request->headers["content-length"]);
      bytes.erase(0, head_end + 4);
    }
    if (request && bytes.size() >= body_size) {
      request->body = std::move(bytes);
      return request;
    }
    std::array<pollfd, 2> polled = {{{connection, POLLIN, 0}, {stop_pipe_[0], POLLIN, 0}}};
    poll(polled.data(), polled.size(), -1);
    if (polled[1].revents != 0) return std::nullopt;
    std::array<char, 65'536> buffer;
    const ssize_t count = recv(connection, buffer.data(), buffer.size(), 0);
    if (count <= 0) return std::nullopt;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace stator::test
