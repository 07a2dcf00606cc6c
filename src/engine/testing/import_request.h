// SPDX-License-Identifier: Apache-2.0
// A request of ImportTable for tests.
#pragma once

#include <string>

#include "stator/value.h"

namespace stator::test {

// Imports the objects "rows…" of a bucket into the table "New", with the key "pk".
inline Item import_request(const std::string& bucket, const std::string& format = "CSV") {
  const Item key{{"AttributeName", "pk"}, {"AttributeType", "S"}};
  return {{"S3BucketSource", Item{{"S3Bucket", bucket}, {"S3KeyPrefix", "rows"}}},
          {"InputFormat", format},
          {"TableCreationParameters",
           Item{{"TableName", "New"},
                {"BillingMode", "PAY_PER_REQUEST"},
                {"AttributeDefinitions", List{key}},
                {"KeySchema", List{Item{{"AttributeName", "pk"}, {"KeyType", "HASH"}}}}}}};
}

}  // namespace stator::test
