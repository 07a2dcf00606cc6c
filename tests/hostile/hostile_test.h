// SPDX-License-Identifier: Apache-2.0
// Common parts of the suites of hostile clients: a server process with short timeouts, a
// well-behaved client, and the server's memory. After each test, the server must respond, and must
// not have used more memory than the test permits.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/http_client.h"
#include "support/matchers.h"
#include "support/paths.h"
#include "support/process_memory.h"
#include "support/raw_connection.h"
#include "support/server_process.h"

namespace stator::test {

inline constexpr std::size_t kKilobyte = 1024;
inline constexpr std::size_t kMegabyte = 1024 * kKilobyte;

// The bytes of an operation's request. The signature is not valid.
inline std::string operation(std::string_view name, std::string_view body) {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
         "Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request,"
         " SignedHeaders=host;x-amz-date;x-amz-target, Signature=0123456789abcdef\r\n"
         "X-Amz-Date: 20260101T000000Z\r\nX-Amz-Target: DynamoDB_20120810." +
         std::string(name) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

class HostileTest : public ::testing::Test {
 protected:
  explicit HostileTest(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), "--memory");
    server_ = std::make_unique<ServerProcess>(stator_binary(), flags);
    auto client = HttpClient::open({.endpoint = server_->url(), .max_attempts = 1});
    EXPECT_THAT(client, IsOk());
    if (client) client_ = std::make_unique<HttpClient>(std::move(*client));
    EXPECT_THAT(client_->create_table({.table = "Things",
                                       .attributes = {{"pk", ScalarType::kS}},
                                       .key_schema = {{"pk", KeyType::kHash}},
                                       .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
    expect_service();
    start_bytes_ = peak_bytes();
  }
  ~HostileTest() override {
    expect_service();
    EXPECT_EQ(server_->terminate(), 0);
  }

  uint16_t port() const {
    const std::string& url = server_->url();
    return static_cast<uint16_t>(std::atoi(url.substr(url.rfind(':') + 1).c_str()));
  }
  RawConnection connect() const { return RawConnection(port()); }

  // Other clients must not be affected.
  void expect_service() {
    const Item item{{"pk", "good"}, {"n", ++served_}};
    ASSERT_THAT(client_->put_item({.table = "Things", .item = item}), IsOk());
    const auto got = client_->get_item({.table = "Things", .key = {{"pk", "good"}}});
    ASSERT_THAT(got, IsOk());
    EXPECT_EQ(got->item, item);
  }

  // The largest amount of memory that the server has used.
  std::size_t peak_bytes() const { return memory_bytes("VmHWM"); }
  // See process_memory().
  std::size_t memory_bytes(std::string_view field) const {
    const std::size_t bytes = process_memory(server_->pid(), field);
    EXPECT_GT(bytes, 0U) << "the server has gone";
    return bytes;
  }
  // `allowed`: in addition to the memory at startup, and to the overhead of allocators and threads.
  void expect_grown_by_at_most(std::size_t allowed) {
    [[maybe_unused]] constexpr std::size_t kSlack = 4 * kMegabyte;
    // Linux counts pages per processor, so that its sum, and with it the peak, can become smaller.
    const std::size_t grown = std::max(peak_bytes(), start_bytes_) - start_bytes_;
    RecordProperty("grown_kilobytes", std::to_string(grown / kKilobyte));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)allowed;  // sanitizers keep freed memory and use shadow memory
#else
    EXPECT_LE(grown, allowed + kSlack);
#endif
  }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<HttpClient> client_;
  std::size_t start_bytes_ = 0;
  int served_ = 0;
};

}  // namespace stator::test
