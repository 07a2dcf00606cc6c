// SPDX-License-Identifier: Apache-2.0
#include "nats/feed_bus.h"

#include <gtest/gtest.h>
#include <nats/nats.h>

#include <chrono>
#include <optional>
#include <vector>

#include "support/nats_server.h"
#include "support/poll_until.h"

namespace stator::nats {
namespace {

using namespace std::chrono_literals;
using test::poll_until;

const PostId id = PostId::make(Time::parse("2024-05-01T12:00:00Z").value());

class NatsFeedBus : public testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(server_->url().empty()) << "nats-server did not start"; }

  std::shared_ptr<FeedBus> bus(std::chrono::milliseconds ack_wait = 30s) {
    auto opened = open_feed_bus({.url = server_->url(), .ack_wait = ack_wait});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened.value_or(nullptr);
  }
  // The number of messages that the server stores in the stream.
  uint64_t kept() {
    natsConnection* connection = nullptr;
    jsCtx* context = nullptr;
    jsStreamInfo* info = nullptr;
    EXPECT_EQ(natsConnection_ConnectTo(&connection, server_->url().c_str()), NATS_OK);
    EXPECT_EQ(natsConnection_JetStream(&context, connection, nullptr), NATS_OK);
    EXPECT_EQ(js_GetStreamInfo(&info, context, "FEED", nullptr, nullptr), NATS_OK);
    const uint64_t messages = info != nullptr ? info->State.Msgs : 0;
    jsStreamInfo_Destroy(info);
    jsCtx_Destroy(context);
    natsConnection_Destroy(connection);
    return messages;
  }
  void publish(const std::string& text) {
    auto stream = JetStream::connect({.url = server_->url()});
    ASSERT_TRUE(stream);
    ASSERT_TRUE(stream->publish("feed.posts", text, text));
  }

  std::optional<test::NatsServer> server_{std::in_place};
};

TEST_F(NatsFeedBus, KeepsAnAnnouncementUntilItIsDone) {
  const auto one = bus();
  ASSERT_TRUE(one->announce({"ann #1 \n"}, id));
  ASSERT_TRUE(one->announce({"ann #1 \n"}, id));  // for example, an edit
  EXPECT_EQ(kept(), 2U);
  auto taken = one->take(10, 5s).value();
  while (taken.size() < 2) {
    const auto more = one->take(10, 5s).value();
    taken.insert(taken.end(), more.begin(), more.end());
  }
  for (const Announcement& post : taken) {
    EXPECT_EQ(post.author.text, "ann #1 \n");
    EXPECT_EQ(post.id, id);
    post.done();
  }
  EXPECT_TRUE(poll_until([&] { return kept() == 0; }));
  EXPECT_TRUE(one->take(1, 10ms).value().empty());
}

TEST_F(NatsFeedBus, RedeliversUnacknowledgedAnnouncements) {
  const auto one = bus(100ms);
  const auto other = bus(100ms);
  ASSERT_TRUE(one->announce({"ann"}, id));
  ASSERT_EQ(one->take(10, 5s).value().size(), 1U);
  const auto again = other->take(10, 10s).value();
  ASSERT_EQ(again.size(), 1U);
  again[0].done();
  EXPECT_TRUE(poll_until([&] { return kept() == 0; }));
}

TEST_F(NatsFeedBus, AcknowledgesAMessageAfterItsSubscriptionEnded) {
  const auto one = bus();
  ASSERT_TRUE(one->announce({"ann"}, id));
  auto stream = JetStream::connect({.url = server_->url()});
  ASSERT_TRUE(stream);
  std::vector<Message> messages;
  {
    auto subscription = stream->subscribe("FEED", "feed.posts", "feed-workers");
    ASSERT_TRUE(subscription);
    messages = subscription->fetch(1, 10s).value();
  }
  ASSERT_EQ(messages.size(), 1U);
  messages[0].acknowledge();
  EXPECT_TRUE(poll_until([&] { return kept() == 0; }));
}

TEST_F(NatsFeedBus, AnnouncementsCanOutliveTheBus) {
  auto one = bus();
  ASSERT_TRUE(one->announce({"ann"}, id));
  const auto taken = one->take(10, 5s).value();
  ASSERT_EQ(taken.size(), 1U);
  one.reset();
  taken[0].done();
  EXPECT_EQ(kept(), 1U);
}

TEST_F(NatsFeedBus, DropsMalformedAnnouncements) {
  const auto one = bus();
  for (const std::string& text :
       {std::string("x"), id.text(), id.text() + " ", id.text() + "xann"}) {
    publish(text);
  }
  EXPECT_TRUE(poll_until([&] {
    EXPECT_TRUE(one->take(10, 10ms).value().empty());
    return kept() == 0;
  }));
}

TEST_F(NatsFeedBus, DoesNotWaitForAServerThatIsAway) {
  const auto one = bus();
  server_.reset();
  EXPECT_FALSE(one->announce({"ann"}, id));
  const auto second = one->announce({"ann"}, id);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUnavailable);
  EXPECT_EQ(second.error().message, "the NATS server has not responded recently");
}

}  // namespace
}  // namespace stator::nats
