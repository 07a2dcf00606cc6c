// SPDX-License-Identifier: Apache-2.0
// Exactness: an engine with two tables that gets requests in JSON, to test exact error messages.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/promised.h"
#include "storage/stores.h"
#include "support/must.h"

namespace stator::protocol {

using test::must;

inline const std::string kInvalid = "One or more parameter values were invalid: ";

// A value in `levels` nested maps.
inline std::string deep(int levels) {
  std::string value = R"({"S":"leaf"})";
  for (int i = 0; i < levels; ++i) value.insert(0, R"({"M":{"n":)").append("}}");
  return value;
}

class Exactness : public ::testing::Test {
 protected:
  Exactness() {
    must(ask("CreateTable", R"({"TableName":"Tab","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})"));
    must(ask("CreateTable", R"({"TableName":"Two","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},
          {"AttributeName":"s","AttributeType":"N"},{"AttributeName":"l","AttributeType":"S"},
          {"AttributeName":"g","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},
                     {"AttributeName":"s","KeyType":"RANGE"}],
        "LocalSecondaryIndexes":[{"IndexName":"local","Projection":{"ProjectionType":"KEYS_ONLY"},
          "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},
                       {"AttributeName":"l","KeyType":"RANGE"}]}],
        "GlobalSecondaryIndexes":[{"IndexName":"global","Projection":{"ProjectionType":"KEYS_ONLY"},
          "KeySchema":[{"AttributeName":"g","KeyType":"HASH"}]}]})"));
  }

  Result<std::string> ask(std::string_view name, std::string_view json) {
    return protocol::ask(*engine_, name, json);
  }

  struct Case {
    std::string_view operation;
    std::string_view request;
    std::string message;
  };
  void expect_refusals(std::initializer_list<Case> cases, Code code = Code::kValidation) {
    for (const Case& one : cases) {
      const auto answer = ask(one.operation, one.request);
      ASSERT_FALSE(answer) << one.operation << " " << one.request;
      EXPECT_EQ(answer.error().code, code) << one.operation << " " << one.request;
      EXPECT_EQ(answer.error().message, one.message) << one.operation << " " << one.request;
    }
  }

  std::unique_ptr<Engine> engine_ = must(Engine::open(make_memory_store()));
};

}  // namespace stator::protocol
