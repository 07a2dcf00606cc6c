// SPDX-License-Identifier: Apache-2.0
// A client message has a type, a 4-byte length that includes itself, and a body. The first message
// has no type. A pipeline ends with a Sync (S), or is one simple query (Q).
#include "storage/postgres/postgres_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "base/big_endian.h"
#include "storage/postgres/statements.h"

namespace stator::test {
namespace {

using postgres::Statement;

constexpr std::string_view kTerminate{"X\0\0\0\4", 5};

// Returns an empty string if the connection has ended.
std::string receive(int from) {
  std::array<char, 65536> buffer{};
  const ssize_t count = read(from, buffer.data(), buffer.size());
  return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

void close_after_end(int server) {
  send_all(server, kTerminate);
  while (!receive(server).empty()) {
  }
  close(server);
}

int connect_to(const std::string& path) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

// Returns the size of the first message, or 0 if it is incomplete or absent.
std::size_t message_bytes(std::string_view bytes) {
  constexpr std::size_t kHeaderBytes = 5;
  if (bytes.size() < kHeaderBytes) return 0;
  const std::size_t whole = 1 + read_big_endian(bytes.substr(1, 4));
  return whole <= bytes.size() ? whole : 0;
}

int count_of(char type, std::string_view messages) {
  int count = 0;
  while (const std::size_t size = message_bytes(messages)) {
    count += messages[0] == type ? 1 : 0;
    messages.remove_prefix(size);
  }
  return count;
}

// Returns the size of the first messages; absent if there are fewer.
std::optional<std::size_t> bytes_of(int half_messages, std::string_view messages) {
  for (std::size_t bytes = 0;; half_messages -= 2) {
    const std::size_t size = message_bytes(messages.substr(bytes));
    if (size == 0) return std::nullopt;
    if (half_messages < 2) return bytes + (half_messages == 1 ? size / 2 : 0);
    bytes += size;
  }
}

// Receives messages up to the last one of a number of one type, or an error.
std::string receive_messages(int server, char last, int number) {
  std::string messages;
  while (count_of(last, messages) < number && count_of('E', messages) == 0) {
    const std::string received = receive(server);
    if (received.empty()) break;
    messages += received;
  }
  return messages;
}

std::map<std::string_view, Statement> statements_by_name() {
  std::map<std::string_view, Statement> statements;
  for (std::size_t i = 0; i < postgres::kStatements; ++i) {
    const auto statement = static_cast<Statement>(i);
    statements.emplace(postgres::statement_text(statement).name, statement);
  }
  return statements;
}

// Returns the prepared statements that a pipeline binds. The names in a Bind message are that of
// the portal, which is "", and that of the statement.
std::vector<Statement> statements_in(std::string_view pipeline) {
  static const std::map<std::string_view, Statement> by_name = statements_by_name();
  constexpr std::size_t kNameAt = 6;
  std::vector<Statement> statements;
  while (!pipeline.empty()) {
    if (pipeline[0] == 'B') {
      const auto found =
          by_name.find(pipeline.substr(kNameAt, pipeline.find('\0', kNameAt) - kNameAt));
      if (found != by_name.end()) statements.push_back(found->second);
    }
    pipeline.remove_prefix(message_bytes(pipeline));
  }
  return statements;
}

bool contains(const std::vector<Statement>& statements, Statement statement) {
  return std::ranges::find(statements, statement) != statements.end();
}

// The store does not wait for the end of a transaction that only read.
bool only_ends(const std::vector<Statement>& statements) {
  return statements.size() == 1 &&
         (statements[0] == Statement::kCommit || statements[0] == Statement::kRollback);
}

// Changes the process id in BackendKeyData, which is among the server's first messages.
void change_backend_pid(std::string& messages) {
  constexpr std::string_view kBackendKeyData{"K\0\0\0\x0c", 5};
  const std::size_t at = messages.find(kBackendKeyData);
  if (at != std::string::npos) messages[at + kBackendKeyData.size()] ^= 1;
}

}  // namespace

PostgresProxy::PostgresProxy(std::string socket, std::function<Fate(CommitPipeline)> fate)
    : socket_(std::move(socket)), fate_(std::move(fate)) {
  listener_.emplace([this](int client, const std::stop_token& stop) {
    ++connections_;
    serve(client, stop);
    --connections_;
  });
}

PostgresProxy::~PostgresProxy() {
  listener_.reset();
  for (const Late& late : late_) close(late.server);
}

std::string PostgresProxy::dsn() const {
  return "host=127.0.0.1 port=" + std::to_string(listener_->port()) +
         " user=postgres dbname=postgres sslmode=disable gssencmode=disable";
}

std::string PostgresProxy::url() const {
  return "postgresql://postgres@127.0.0.1:" + std::to_string(listener_->port()) +
         "/postgres?sslmode=disable&gssencmode=disable";
}

void PostgresProxy::deliver_late() {
  std::vector<Late> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(late_);
  }
  for (const Late& late : all) {
    send_all(late.server, late.bytes);
    close_after_end(late.server);
  }
}

void PostgresProxy::be_silent(int client, const std::stop_token& stop) {
  const int silent = ++silent_;
  for (int most = silent_max_; most < silent && !silent_max_.compare_exchange_weak(most, silent);) {
  }
  pollfd end{.fd = client, .events = POLLIN, .revents = 0};
  while (!stop.stop_requested()) {
    if (poll(&end, 1, LoopbackListener::kLookMs) > 0 && receive(client).empty()) break;
  }
  --silent_;
}

void PostgresProxy::serve(int client, const std::stop_token& stop) {
  const Greeting greeting = greeting_;
  if (greeting == Greeting::kSilence) be_silent(client, stop);
  if (greeting == Greeting::kSilence || greeting == Greeting::kRefuse) {
    close(client);
    return;
  }
  const int dropped = dropped_;
  const int server = connect_to(socket_);
  bool open = server >= 0;
  bool started = false;
  std::string bytes;
  std::array<pollfd, 2> ends{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
  while (open && dropped == dropped_ && !stop.stop_requested()) {
    if (poll(ends.data(), ends.size(), LoopbackListener::kLookMs) <= 0) continue;
    if (ends[1].revents != 0) {
      std::string reply = receive(server);
      if (greeting == Greeting::kPooler) change_backend_pid(reply);
      if (reply.empty() || !send_all(client, reply)) break;
    }
    if (ends[0].revents == 0) continue;
    const std::string received = receive(client);
    if (received.empty()) break;
    if (!std::exchange(started, true)) {
      open = send_all(server, received);
      continue;
    }
    bytes += received;
    if (!forward_pipelines(bytes, server, client)) {
      close(client);
      return;
    }
  }
  close(client);
  if (server >= 0) close(server);
}

bool PostgresProxy::forward_pipelines(std::string& bytes, int server, int client) {
  std::size_t end = 0;
  while (const std::size_t size = message_bytes(std::string_view(bytes).substr(end))) {
    const char type = bytes[end];
    end += size;
    if (type != 'S' && type != 'Q' && type != 'X') continue;
    const std::string pipeline = bytes.substr(0, end);
    bytes.erase(0, end);
    end = 0;
    Fate fate = Fate::kPass;
    const std::vector<Statement> statements = statements_in(pipeline);
    if (!only_ends(statements)) ++round_trips_;
    if (std::ranges::any_of(statements, postgres::is_commit)) {
      fate = fate_({.is_locked = contains(statements, Statement::kCommit), .bytes = pipeline});
    }
    const auto next = fate == Fate::kPass ? take_cut(statements) : std::nullopt;
    if (next ? !cut(*next, pipeline, server, client) : !meet(fate, pipeline, server, client)) {
      return false;
    }
  }
  return true;
}

std::optional<PostgresProxy::Cut> PostgresProxy::take_cut(
    const std::vector<Statement>& statements) {
  const std::lock_guard lock(mutex_);
  if (!cut_ || !contains(statements, cut_->statement)) return std::nullopt;
  return std::exchange(cut_, std::nullopt);
}

bool PostgresProxy::cut(const Cut& cut, std::string_view pipeline, int server, int client) {
  std::string reply;
  if (cut.of_reply) {
    send_all(server, pipeline);
    reply = receive_messages(server, 'Z', 1);
  }
  const std::string_view whole = cut.of_reply ? reply : pipeline;
  const auto bytes = bytes_of(cut.half_messages, whole);
  const bool passed =
      send_all(cut.of_reply ? client : server, whole.substr(0, bytes.value_or(whole.size())));
  if (!bytes && passed) return true;
  ++cuts_;
  close(server);
  return false;
}

bool PostgresProxy::meet(Fate fate, std::string_view pipeline, int server, int client) {
  switch (fate) {
    case Fate::kPass:
      if (send_all(server, pipeline)) return true;
      close(server);
      return false;
    case Fate::kLoseRequest:
      close(server);
      return false;
    case Fate::kLoseReply:
      send_all(server, pipeline);
      close_after_end(server);
      return false;
    case Fate::kLoseEnd: {
      // Instead of Sync, which ends the transaction and the reply, Flush requests the reply.
      constexpr std::string_view kFlush{"H\0\0\0\4", 5};
      send_all(server, pipeline.substr(0, pipeline.size() - kFlush.size()));
      send_all(server, kFlush);
      send_all(client, receive_messages(server, 'C', count_of('E', pipeline)));
      close(server);
      return false;
    }
    case Fate::kRace:
      send_all(server, pipeline);
      break;
    case Fate::kDeliverLate: {
      const std::lock_guard lock(mutex_);
      late_.push_back({server, std::string(pipeline)});
      return false;
    }
  }
  // The client's connection ends immediately, while the server can still execute the commit.
  const std::lock_guard lock(mutex_);
  closing_.emplace_back(close_after_end, server);
  return false;
}

}  // namespace stator::test
