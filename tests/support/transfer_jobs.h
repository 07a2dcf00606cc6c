// SPDX-License-Identifier: Apache-2.0
// Imports ("Import"), exports ("Export") and bulk puts ("BulkOperation"), as a client sees them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "stator/client.h"

namespace stator::test {

// Returns the description in the response of an operation.
inline Item described_job(const std::string& kind, const Result<std::string>& answer) {
  EXPECT_TRUE(answer) << answer.error().message;
  if (!answer) return {};
  const auto document = wire::item_from_plain_json(*answer);
  EXPECT_TRUE(document) << *answer;
  if (!document) return {};
  return map_of(*document, (kind == "Import" ? "ImportTable" : kind) + "Description");
}

inline Item describe_job(Client& client, const std::string& kind, const std::string& arn) {
  return described_job(kind,
                       client.call("Describe" + kind, "{\"" + kind + "Arn\": \"" + arn + "\"}"));
}

// Waits until the job has ended, and returns its description.
inline Item wait_for_job(Client& client, const std::string& kind, const std::string& arn) {
  while (true) {
    Item now = describe_job(client, kind, arn);
    if (text_of(now, kind + "Status") != "IN_PROGRESS") return now;
    std::this_thread::yield();
  }
}

}  // namespace stator::test
