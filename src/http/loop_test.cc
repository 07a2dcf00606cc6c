// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "http/connection.h"

namespace stator::http {
namespace {

// The last connection closes in a turn of the inbox during which other threads fill it again.
TEST(EventLoop, EndsWhileOtherThreadsWakeIt) {
  const auto shared = std::make_shared<Shared>(
      ServerOptions{}, [](const Request&, Respond respond) { respond({}); }, 1);
  for (int round = 0; round < 100; ++round) {
    const auto loop = std::make_shared<Loop>(shared, Loop::Kind::kSmall);
    const auto connection =
        std::make_shared<Connection>(loop, Socket(loop->context()), count_connection(*shared));
    ASSERT_TRUE(loop->expect());
    std::atomic<bool> waking = true;
    std::thread releases([&] {
      while (waking) loop->post_give_room();
    });
    std::thread answers([&] {
      while (waking) loop->post_response(connection, {});
    });
    auto ended = std::async(std::launch::async, [&] { loop->run(); });
    loop->stop();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    loop->take(connection, &Connection::close);
    const bool in_time = ended.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
    waking = false;
    releases.join();
    answers.join();
    if (!in_time) loop->context().stop();
    ASSERT_TRUE(in_time) << "in round " << round;
    loop->shut();
  }
}

}  // namespace
}  // namespace stator::http
