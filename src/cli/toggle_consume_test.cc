// SPDX-License-Identifier: Apache-2.0
// Tests the outcome of each delivered event: saved, rejected, or left to be delivered again.
#include "cli/toggle_consume.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <utility>

#include "stator/database.h"
#include "support/fake_time.h"
#include "support/faulty_client.h"
#include "support/must.h"
#include "support/read_file.h"
#include "support/temp_dir.h"

namespace stator::cli {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kHandled = Settlement::kHandled;
constexpr auto kRejected = Settlement::kRejected;
constexpr auto kLeft = Settlement::kLeft;

// One batch of messages, and how it was settled.
class OneBatch final : public EventSource {
 public:
  explicit OneBatch(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  Result<std::optional<std::vector<std::string>>> next(const std::stop_token&) override {
    return std::exchange(texts_, std::nullopt);
  }
  Result<void> settle(const std::vector<Settlement>& settlements) override {
    settled = settlements;
    return {};
  }
  std::vector<Settlement> settled;

 private:
  std::optional<std::vector<std::string>> texts_;
};

class ToggleConsume : public testing::TestWithParam<ToggleMode> {
 protected:
  ToggleConsume() {
    must(create_table_if_missing(database_, AnyToggle::table_definition(options_)));
  }

  std::string event(Time at, const std::string& id = "e1", bool state = true) const {
    return "{\"id\":\"door\",\"state\":" + std::string(state ? "true" : "false") + ",\"at\":\"" +
           at.text() + "\",\"event\":\"" + id + "\"}";
  }
  Result<Consumed> consume(EventSource& source) {
    return cli::consume(source, AnyToggle(client_, options_),
                        {.rejects_file = rejects(), .parallel = 1, .time = &time_}, {});
  }
  std::vector<Settlement> settlements(std::vector<std::string> texts) {
    OneBatch source(std::move(texts));
    consumed_ = must(consume(source));
    return source.settled;
  }
  bool gated() const { return GetParam() == ToggleMode::kGated; }
  const char* write() const { return gated() ? "TransactWriteItems" : "PutItem"; }
  std::string rejects() const { return (directory_.path() / "rejects").string(); }
  std::string rejected() const { return read_file(rejects()); }
  std::string newest() {
    const auto latest = AnyToggle(database_, options_).latest({"door"});
    return latest ? latest->event.text : code_name(latest.error().code);
  }

  TempDir directory_;
  Database database_ = must(Database::open());
  FaultyClient client_{database_};
  FakeTime time_;
  ToggleOptions options_{.table = "Toggles", .mode = GetParam(), .time = &time_};
  Consumed consumed_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ToggleConsume,
                         testing::Values(ToggleMode::kOrderedLog, ToggleMode::kGated),
                         [](const auto& test) {
                           return test.param == ToggleMode::kGated ? "Gated" : "OrderedLog";
                         });

TEST_P(ToggleConsume, LeavesEventsThatAreAheadOfASlowClock) {
  const std::string text = event(time_.now());
  const std::string earlier = event(time_.now() - 1h, "e0");
  time_.set_wall(time_.now() - 11min);
  EXPECT_THAT(settlements({text, earlier, text}), ElementsAre(kLeft, kHandled, kLeft));
  EXPECT_EQ(consumed_.left, 2);
  EXPECT_EQ(consumed_.rejected, 0);
  EXPECT_THAT(rejected(), IsEmpty());
  EXPECT_EQ(newest(), "e0");
  time_.set_wall(time_.now() + 11min);
  EXPECT_THAT(settlements({text}), ElementsAre(kHandled));
  EXPECT_EQ(newest(), "e1");
}

TEST_P(ToggleConsume, RetriesConflictsAndThrottlingWithoutRejectingEvents) {
  for (const Fate& fate :
       {refuse(Code::kTransactionConflict), refuse(Code::kThrottling),
        refuse(Code::kProvisionedThroughputExceeded), refuse(Code::kServiceUnavailable),
        refuse(Code::kOutcomeUnknown), cancel({"TransactionConflict", "None"}),
        cancel({"None", "ThrottlingError"})}) {
    // More failures than one save retries by itself.
    client_.first(write(), 25, fate);
    time_.advance(1s);
    const std::string id = "at " + time_.now().text();
    EXPECT_THAT(settlements({event(time_.now(), id)}), ElementsAre(kHandled))
        << code_name(fate.error.code);
    EXPECT_EQ(newest(), id);
  }
  EXPECT_THAT(rejected(), IsEmpty());
}

TEST_P(ToggleConsume, RejectsEventsThatCanNeverBeSaved) {
  const Time now = time_.now();
  EXPECT_THAT(settlements({event(now), "no JSON", event(now, "e1", false)}),
              ElementsAre(kHandled, kRejected, kRejected));
  EXPECT_EQ(consumed_.rejected, 2);
  EXPECT_THAT(rejected(), HasSubstr("Conflict: event: "));
  client_.first(write(), 1,
                gated() ? cancel({"None", "ValidationError"}) : refuse(Code::kValidation));
  EXPECT_THAT(settlements({event(now, "e2")}), ElementsAre(kRejected));
}

TEST_P(ToggleConsume, StopsWithoutRejectingEventsOnServerErrors) {
  for (const Code code :
       {Code::kAccessDenied, Code::kResourceNotFound, Code::kUnrecognizedClient, Code::kIo}) {
    client_.first(write(), 1, refuse(code));
    OneBatch source({event(time_.now())});
    const auto consumed = consume(source);
    ASSERT_FALSE(consumed) << code_name(code);
    EXPECT_EQ(consumed.error().code, code);
    EXPECT_THAT(source.settled, ElementsAre(kLeft));
  }
  EXPECT_THAT(rejected(), IsEmpty());
}

TEST_P(ToggleConsume, StopsWithoutRejectingEventsOnErrorsOfOtherCauses) {
  const auto expect_end = [&](Code code, int parallel = 1) {
    OneBatch source({event(time_.now())});
    const auto consumed =
        cli::consume(source, AnyToggle(client_, options_),
                     {.rejects_file = rejects(), .parallel = parallel, .time = &time_}, {});
    ASSERT_FALSE(consumed);
    EXPECT_EQ(consumed.error().code, code) << consumed.error().message;
    EXPECT_THAT(source.settled, ElementsAre(kLeft));
    EXPECT_THAT(rejected(), IsEmpty());
  };
  client_.first("GetItem", 1, refuse(Code::kValidation));  // of the settings
  expect_end(Code::kValidation);
  expect_end(Code::kInvalidArgument, 0);
  options_.retention = -1s;
  expect_end(Code::kInvalidArgument);
  options_.retention.reset();
  if (!gated()) return;
  must(database_.put_item({.table = "Toggles", .item = {{"pk", "TOGGLE#door"}, {"sk", "LATEST"}}}));
  expect_end(Code::kConflict);
}

TEST_P(ToggleConsume, KeepsTheCheckpointBeforeAnUnprocessedLine) {
  const std::string file = (directory_.path() / "events").string();
  const std::string checkpoint = (directory_.path() / "checkpoint").string();
  const auto run = [&] {
    const int input = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    auto source = must(open_lines(input, checkpoint));
    consumed_ = must(consume(*source));
    source.reset();
    close(input);
  };
  const Time now = time_.now();
  std::ofstream(file) << event(now - 1h, "a") << '\n'
                      << event(now, "b") << '\n'
                      << event(now - 2h, "c") << '\n';
  time_.set_wall(now - 11min);
  run();
  EXPECT_EQ(consumed_.left, 1);
  EXPECT_EQ(newest(), "a");
  time_.set_wall(now);
  run();
  EXPECT_EQ(consumed_.left, 0);
  EXPECT_EQ(newest(), "b");
  EXPECT_EQ(consumed_.newest + consumed_.late + consumed_.duplicates, 2) << "b and c again, not a";
  std::ofstream(file, std::ios::app) << event(now + 1min, "d") << '\n';
  run();
  EXPECT_EQ(consumed_.newest + consumed_.late + consumed_.duplicates, 1) << "d alone";
}

}  // namespace
}  // namespace stator::cli
