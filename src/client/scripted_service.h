// SPDX-License-Identifier: Apache-2.0
// ScriptedService: an HTTP server on a free port that plays a list of responses, drops and
// timeouts, one for each request, and records the requests. It serves one connection at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace stator::test {

struct ScriptStep {
  enum class Kind {
    kAnswer,
    kAnswerThenClose,  // without announcing it in the response, like an idle timeout
    kDrop,             // reads the request, closes the connection
    kDropAndLeave,     // the same, and accepts no more connections
    kDropHalfway,      // closes it in the middle of the response
    kSilence,          // reads the request, waits until the client disconnects
  };
  Kind kind = Kind::kAnswer;
  int status = 200;
  std::string body = "{}";
  std::string headers = {};  // lines, each with its \r\n
};

ScriptStep answer(int status, std::string body, std::string headers = {});
// DynamoDB's error body for an exception's name.
ScriptStep refusal(int status, std::string_view exception, std::string_view message = "no");

struct SeenRequest {
  std::string start_line;
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  std::string body;
};

class ScriptedService {
 public:
  explicit ScriptedService(std::vector<ScriptStep> script);
  ScriptedService(const ScriptedService&) = delete;
  ScriptedService& operator=(const ScriptedService&) = delete;
  ~ScriptedService();

  std::string url() const;
  std::vector<SeenRequest> requests() const;
  int connections() const;
  // Waits until this server has closed this many connections.
  void await_closed(int connections) const;

 private:
  void serve();
  bool serve_one(int connection);  // false: the connection is over
  std::optional<SeenRequest> read_request(int connection) const;
  void wait_until_gone(int connection) const;
  ScriptStep next_step();

  int listener_ = -1;
  int stop_pipe_[2] = {-1, -1};
  uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::deque<ScriptStep> script_;
  std::vector<SeenRequest> requests_;
  int connections_ = 0;
  std::atomic<int> closed_ = 0;
  std::thread thread_;
};

}  // namespace stator::test
