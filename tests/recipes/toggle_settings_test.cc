// SPDX-License-Identifier: Apache-2.0
// Settings that a table stores for all its toggles, and the retention of earlier states.
#include <string>
#include <vector>

#include "recipes/toggle_suite.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::AllOf;
using testing::HasSubstr;

class ToggleSettingsTest : public ToggleSuite {
 protected:
  ToggleOptions kept(std::chrono::seconds retention) {
    ToggleOptions with = options();
    with.retention = retention;
    return with;
  }
  ToggleOptions other_mode() {
    ToggleOptions other = options();
    other.mode = gated() ? ToggleMode::kOrderedLog : ToggleMode::kGated;
    return other;
  }
  // Returns the log entries without an expiry.
  std::vector<std::string> lasting(const std::string& id) {
    const auto found =
        bench.client.query({.table = "Toggles",
                            .key_condition = "pk = :pk AND begins_with(sk, :log)",
                            .filter = "attribute_not_exists(expires_at)",
                            .values = Values{{":pk", "TOGGLE#" + id}, {":log", "LOG#"}}});
    std::vector<std::string> events;
    for (const Item& item : found.value().items) {
      const std::string& sk = *item.at("sk").get_if<std::string>();
      events.push_back(sk.substr(sk.rfind('#') + 1));
    }
    return events;
  }
};

STATOR_TOGGLE_HOMES(ToggleSettingsTest, ToggleMode::kOrderedLog, ToggleMode::kGated);

TEST_P(ToggleSettingsTest, AnotherModeIsAnErrorThatNamesBoth) {
  STATOR_NEEDS(Ability::kTransactions);
  const Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, now()));
  const Toggle<bool> other(bench.client, other_mode());
  const auto latest = other.latest({"t"});
  EXPECT_FAILS(Code::kLimitsDisagree, latest);
  EXPECT_THAT(latest.error().message, AllOf(HasSubstr("ordered_log"), HasSubstr("gated")));
  EXPECT_FAILS(Code::kLimitsDisagree, other.save({"t"}, false, now() + 1s));
  EXPECT_FAILS(Code::kLimitsDisagree, other.as_of({"t"}, now()));
  EXPECT_FAILS(Code::kLimitsDisagree, other.history({"t"}));
  EXPECT_EQ(toggle.latest({"t"}).value().state, true);
}

TEST_P(ToggleSettingsTest, OfATableWithoutThemAllModesReadTheNewestEvent) {
  STATOR_NEEDS(Ability::kTransactions);
  // Data of an earlier release.
  ASSERT_OK(bench.client.put_item(
      {.table = "Toggles", .item = {{"pk", "TOGGLE#old"}, {"sk", "LATEST"}, {"state", false}}}));
  const Toggle<bool> one(bench.client, options());
  const Toggle<bool> two(bench.client, other_mode());
  ASSERT_OK(one.save({"t"}, true, now(), {"a"}));
  EXPECT_EQ(two.latest({"t"}).value().event, EventId{"a"});
  ASSERT_OK(two.save({"t"}, false, now() + 1s, {"b"}));
  EXPECT_EQ(one.latest({"t"}).value().event, EventId{"b"});
  EXPECT_EQ(two.latest({"t"}).value().event, EventId{"b"});
  ASSERT_OK(one.save({"t"}, true, now() + 2s, {"c"}));
  EXPECT_EQ(two.latest({"t"}).value().event, EventId{"c"});
}

TEST_P(ToggleSettingsTest, AreStoredForEachPrefixOfATableWithOtherItems) {
  ASSERT_OK(bench.client.put_item(
      {.table = "Toggles", .item = {{"pk", "USER#1"}, {"sk", "LOG#1"}, {"name", "ann"}}}));
  // The items of the first prefix begin with the second, too.
  for (const char* prefix : {"TOGGLE#EU#", "TOGGLE#", ""}) {
    const auto prefixed = [&](std::chrono::seconds retention) {
      ToggleOptions with = kept(retention);
      with.id_prefix = prefix;
      return Toggle<bool>(bench.client, with);
    };
    ASSERT_OK(prefixed(1h).save({"t"}, true, now()));
    EXPECT_FAILS(Code::kLimitsDisagree, prefixed(2h).latest({"t"}));
  }
}

TEST_P(ToggleSettingsTest, AnotherRetentionIsAnErrorThatNamesBoth) {
  ASSERT_OK(Toggle<bool>(bench.client, kept(1h)).save({"t"}, true, now()));
  const auto refused = Toggle<bool>(bench.client, kept(2h)).save({"t"}, false, now() + 1s);
  EXPECT_FAILS(Code::kLimitsDisagree, refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("retention 7200 s"), HasSubstr("3600 s")));
  // A toggle without a retention uses the stored one.
  ASSERT_OK(Toggle<bool>(bench.client, options()).save({"t"}, false, now() + 1s, {"last"}));
  EXPECT_EQ(lasting("t"), std::vector<std::string>{"last"});
  ASSERT_OK(AnyToggle(bench.client, options()).change_retention(2h));
  EXPECT_OK(Toggle<bool>(bench.client, kept(2h)).save({"t"}, true, now() + 2s));
}

TEST_P(ToggleSettingsTest, AreReadOnceInAMinute) {
  const Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, now()));
  const auto one = [&] { return bench.cost_of([&] { ASSERT_OK(toggle.latest({"t"})); }).requests; };
  EXPECT_EQ(one(), 1);
  bench.time.advance(59s);
  EXPECT_EQ(one(), 1);
  bench.time.advance(1s);
  EXPECT_EQ(one(), 2);
}

// ---- Earlier states

TEST_P(ToggleSettingsTest, ALateEventBeforeManyOthersExpiresToo) {
  const Toggle<bool> toggle(bench.client, kept(1h));
  for (int i = 0; i < 15; ++i) {
    ASSERT_OK(toggle.save({"t"}, i % 2 == 0, now() - std::chrono::seconds(15 - i),
                          {"e" + std::to_string(i)}));
  }
  ASSERT_OK(toggle.save({"t"}, true, now() - 100h, {"late"}));
  EXPECT_EQ(lasting("t"), std::vector<std::string>{"e14"});
}

TEST_P(ToggleSettingsTest, AsOfReturnsTheStateOrThatItIsUnknown) {
  const Toggle<bool> toggle(bench.client, kept(1h));
  const Time start = now();
  ASSERT_OK(toggle.save({"t"}, true, start, {"a"}));
  // The last event applies, no matter how old it is.
  bench.time.advance(240h);
  EXPECT_EQ(toggle.as_of({"t"}, start + 1s).value().event, EventId{"a"});
  EXPECT_FAILS(Code::kExpired, toggle.as_of({"t"}, start - 1s));
  ASSERT_OK(toggle.save({"t"}, false, now(), {"b"}));
  bench.time.advance(59min);
  EXPECT_EQ(toggle.as_of({"t"}, now() - 59min - 1s).value().event, EventId{"a"});
  EXPECT_FAILS(Code::kExpired, toggle.as_of({"t"}, start + 1s));
  bench.time.advance(240h);
  // After a late event, an unknown time is still unknown.
  ASSERT_OK(toggle.save({"t"}, true, start - 1h, {"late"}));
  EXPECT_FAILS(Code::kExpired, toggle.as_of({"t"}, start));
  // The same for callers without the option.
  const Toggle<bool> plain(bench.client, options());
  EXPECT_FAILS(Code::kExpired, plain.as_of({"t"}, start));
  EXPECT_EQ(plain.as_of({"t"}, now() - 1h).value().event, EventId{"b"});
  EXPECT_FAILS(Code::kNotFound, plain.as_of({"none"}, start));
}

TEST_P(ToggleSettingsTest, AsOfKnowsAllOfTheRetentionThoughTheEventsWereDatedAhead) {
  const Toggle<bool> toggle(bench.client, kept(1h));
  ASSERT_OK(toggle.save({"t"}, true, now(), {"a"}));
  const Time ahead = now() + 10min;
  ASSERT_OK(toggle.save({"t"}, false, ahead, {"b"}));
  const auto items = bench.client.query({.table = "Toggles",
                                         .key_condition = "pk = :pk AND begins_with(sk, :log)",
                                         .values = Values{{":pk", "TOGGLE#t"}, {":log", "LOG#"}}});
  // A state that lasted until `ahead` is needed for the retention after that, plus a grace period.
  EXPECT_EQ(items.value().items.at(0).at("expires_at"),
            AttributeValue((ahead + 1h + 10min).unix_seconds()));
}

TEST_P(ToggleSettingsTest, AnEventWhoseExpiryCouldNotBeSetIsNotReportedAsSaved) {
  if (gated()) GTEST_SKIP() << "late events are not stored";
  const Toggle<bool> toggle(bench.client, kept(1h));
  for (int i = 0; i < 12; ++i) {
    ASSERT_OK(toggle.save({"t"}, true, now() - std::chrono::seconds(12 - i)));
  }
  bench.client.first("UpdateItem", 1, refuse(Code::kAccessDenied));
  EXPECT_FAILS(Code::kAccessDenied, toggle.save({"t"}, true, now() - 1h, {"late"}));
  EXPECT_EQ(lasting("t").size(), 2U);
  // Delivered again.
  EXPECT_EQ(toggle.save({"t"}, true, now() - 1h, {"late"}).value(), Saved::kDuplicate);
  EXPECT_EQ(lasting("t").size(), 1U);
}

TEST_P(ToggleSettingsTest, AnEventExpiresThoughManyAreSavedAtOnceAfterIt) {
  const Toggle<bool> toggle(bench.client, kept(1h));
  ASSERT_OK(toggle.save({"t"}, true, now() - 1min, {"first"}));
  const auto save = [&](int i) {
    return toggle.save({"t"}, true, now() - std::chrono::seconds(13 - i), {std::to_string(i)});
  };
  // All are stored before the first of them reads the log.
  bench.client.before([](std::string_view operation, int) {
    return operation == "Query" ? refuse(Code::kAccessDenied) : pass();
  });
  for (int i = 0; i < 13; ++i) EXPECT_FAILS(Code::kAccessDenied, save(i));
  bench.client.before(nullptr);
  for (int i = 0; i < 13; ++i) EXPECT_EQ(save(i).value(), Saved::kDuplicate);
  EXPECT_EQ(lasting("t"), std::vector<std::string>{"12"});
}

TEST_P(ToggleSettingsTest, AnEventThatSupersedesAnotherIsSavedOnceThatExpires) {
  ToggleOptions impatient = kept(1h);
  impatient.retry.max_attempts = 1;
  const Toggle<bool> toggle(bench.client, impatient);
  ASSERT_OK(toggle.save({"t"}, true, now() - 1s, {"a"}));
  bench.client.first("UpdateItem", 1, refuse(Code::kThrottling));
  EXPECT_FAILS(Code::kThrottling, toggle.save({"t"}, false, now(), {"b"}));
  // Delivered again.
  EXPECT_EQ(toggle.save({"t"}, false, now(), {"b"}).value(), Saved::kDuplicate);
  EXPECT_EQ(lasting("t"), std::vector<std::string>{"b"});
}

TEST_P(ToggleSettingsTest, AsOfIsUnknownIfTheStateExpiresWhileItIsRead) {
  const Toggle<bool> toggle(bench.client, kept(1h));
  const Time start = now();
  ASSERT_OK(toggle.save({"t"}, true, start, {"a"}));
  ASSERT_OK(toggle.save({"t"}, false, start + 1s, {"b"}));
  EXPECT_EQ(toggle.as_of({"t"}, start).value().event, EventId{"a"});
  bench.client.before([&, paused = false](std::string_view operation, int) mutable {
    if (operation != "Query" || std::exchange(paused, true)) return pass();
    bench.time.advance(2h);
    const auto log = bench.client.query({.table = "Toggles",
                                         .key_condition = "pk = :pk AND begins_with(sk, :log)",
                                         .values = Values{{":pk", "TOGGLE#t"}, {":log", "LOG#"}}});
    EXPECT_OK(bench.client.delete_item(
        {.table = "Toggles", .key = {{"pk", "TOGGLE#t"}, {"sk", log->items.at(0).at("sk")}}}));
    return pass();
  });
  EXPECT_FAILS(Code::kExpired, toggle.as_of({"t"}, start));
}

TEST_P(ToggleSettingsTest, ALongerRetentionDoesNotMakeTheDeletedKnown) {
  const Toggle<bool> toggle(bench.client, kept(1h));
  const Time start = now();
  ASSERT_OK(toggle.save({"t"}, true, start, {"a"}));
  ASSERT_OK(toggle.save({"t"}, false, start + 1s, {"b"}));
  const AnyToggle plain(bench.client, options());
  ASSERT_OK(plain.change_retention(240h));
  bench.time.advance(3h);
  EXPECT_FAILS(Code::kExpired, plain.as_of({"t"}, start));
  EXPECT_OK(plain.as_of({"t"}, start + 20min));
}

}  // namespace
}  // namespace stator
