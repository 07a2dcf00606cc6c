// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/requests.h"

#include <gtest/gtest.h>

#include <set>

#include "support/fake_time.h"

namespace stator::recipes {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

using test::FakeTime;

Error cancelled(std::vector<std::string> codes) {
  auto detail = std::make_shared<ErrorDetail>();
  for (std::string& code : codes) {
    detail->reasons.emplace_back().code = std::move(code);
  }
  return {.code = Code::kTransactionCanceled, .message = "cancelled", .detail = detail};
}

TEST(TroubleOf, JudgesACancelledTransactionByEachReasonsCode) {
  EXPECT_EQ(trouble_of(cancelled({"None", "ConditionalCheckFailed"})), Trouble::kNone);
  EXPECT_EQ(trouble_of(cancelled({"TransactionConflict", "None"})), Trouble::kConflict);
  EXPECT_EQ(trouble_of(cancelled({"ConditionalCheckFailed", "TransactionConflict"})),
            Trouble::kConflict);
  EXPECT_EQ(trouble_of(cancelled({"TransactionConflict", "ThrottlingError"})), Trouble::kThrottle);
  EXPECT_EQ(trouble_of(cancelled({"ValidationError"})), Trouble::kNone);
  EXPECT_EQ(trouble_of({.code = Code::kTransactionCanceled, .message = ""}), Trouble::kNone);
  EXPECT_EQ(trouble_of({.code = Code::kOutcomeUnknown, .message = ""}), Trouble::kUnknown);
  EXPECT_EQ(trouble_of({.code = Code::kValidation, .message = ""}), Trouble::kNone);
}

TEST(ErrorRetryable, IsTrueForTransientErrorsOnly) {
  const std::set<Code> retryable{Code::kTransactionConflict,
                                 Code::kReplicatedWriteConflict,
                                 Code::kTransactionInProgress,
                                 Code::kProvisionedThroughputExceeded,
                                 Code::kThrottling,
                                 Code::kRequestLimitExceeded,
                                 Code::kLimitExceeded,
                                 Code::kInternalServerError,
                                 Code::kServiceUnavailable,
                                 Code::kTimeout,
                                 Code::kUnavailable,
                                 Code::kOutcomeUnknown};
  for (int i = 0; i <= static_cast<int>(Code::kExpired); ++i) {
    const Error error{.code = static_cast<Code>(i), .message = ""};
    EXPECT_EQ(error.retryable(), retryable.contains(error.code)) << code_name(error.code);
    EXPECT_EQ(trouble_of(error) != Trouble::kNone, error.retryable()) << code_name(error.code);
  }
  EXPECT_TRUE(cancelled({"None", "ThrottlingError"}).retryable());
  EXPECT_TRUE(cancelled({"ProvisionedThroughputExceeded"}).retryable());
  EXPECT_TRUE(cancelled({"ConditionalCheckFailed", "TransactionConflict"}).retryable());
  EXPECT_FALSE(cancelled({"None", "ConditionalCheckFailed"}).retryable());
  EXPECT_FALSE(cancelled({"ValidationError"}).retryable());
  EXPECT_FALSE(cancelled({"ItemCollectionSizeLimitExceeded"}).retryable());
}

TEST(WithRetries, EndsAfterTheLastAttempt) {
  FakeTime time;
  const nanoseconds before = time.since_boot();
  int attempts = 0;
  const auto result = with_retries({.max_attempts = 4}, time, [&]() -> Result<int> {
    ++attempts;
    return Failure(cancelled({"TransactionConflict"}));
  });
  EXPECT_EQ(attempts, 4);
  EXPECT_GT(time.since_boot(), before);
  EXPECT_EQ(result.error().code, Code::kTransactionConflict);
  EXPECT_TRUE(result.error().retryable());
  EXPECT_EQ(result.error().detail->reasons.size(), 1U);
}

TEST(WithRetries, RepeatsNothingThatWasRefused) {
  FakeTime time;
  int attempts = 0;
  const auto result = with_retries({}, time, [&]() -> Result<int> {
    ++attempts;
    return Failure(cancelled({"ConditionalCheckFailed"}));
  });
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(result.error().code, Code::kTransactionCanceled);
}

TEST(WithRetries, StopsWhileItWaits) {
  FakeTime time;
  std::stop_source source;
  source.request_stop();
  const auto result = with_retries({}, time, source.get_token(),
                                   []() -> Result<int> { return fail(Code::kThrottling, "slow"); });
  EXPECT_EQ(result.error().code, Code::kCancelled);
}

TEST(Jittered, StaysBelowTheCeilingThatDoubles) {
  nanoseconds longest{0};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LE(jittered(milliseconds(10), milliseconds(1000), 0), milliseconds(10));
    const nanoseconds wait = jittered(milliseconds(10), milliseconds(1000), 100);
    EXPECT_LE(wait, milliseconds(1000));
    longest = std::max(longest, wait);
  }
  EXPECT_GT(longest, milliseconds(500));
  EXPECT_EQ(jittered(nanoseconds(0), nanoseconds(0), 5), nanoseconds(0));
}

TEST(WithRetries, StopAsTheLimitsOfTheThreadDo) {
  FakeTime time;
  std::stop_source stop;
  const CallLimits limits(
      {.attempt = milliseconds(1), .total = milliseconds(1), .stop = stop.get_token()});
  int made = 0;
  const auto result = with_retries(RetryPolicy(), time, [&]() -> Result<void> {
    if (++made == 2) stop.request_stop();
    return fail(Code::kThrottling, "by the test");
  });
  EXPECT_EQ(result.error().code, Code::kCancelled);
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace stator::recipes
