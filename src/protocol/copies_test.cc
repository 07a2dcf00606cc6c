// SPDX-License-Identifier: Apache-2.0
// How often a put copies its item, from the request to the store. The item is so large that each
// copy has memory of its own, which this file counts. simdjson's buffers are larger. Sanitizers
// have their own allocation functions.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "protocol/promised.h"
#include "storage/stores.h"
#include "support/must.h"

namespace {

constexpr std::size_t kItemBytes = 300'000;
constexpr std::size_t kHeadersMax = 1'000;
std::atomic<bool> counts = false;
std::atomic<int> copies = 0;

}  // namespace

void* operator new(std::size_t size) {
  if (counts && size >= kItemBytes && size < kItemBytes + kHeadersMax) ++copies;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace stator::protocol {
namespace {

using test::must;

TEST(Copies, OfAPutWithAStreamAreFew) {
  const auto engine = must(Engine::open(make_memory_store()));
  must(ask(*engine, "CreateTable",
           R"({"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST",
               "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
               "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
               "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"}})"));
  const std::string put = R"({"TableName": "Tab", "Item": {"p": {"S": "a"}, "v": {"S": ")" +
                          std::string(kItemBytes, 'x') + R"("}}})";
  copies = 0;
  counts = true;
  must(ask(*engine, "PutItem", put));
  counts = false;
  // simdjson's copy of the request, the value, the encoded item (which a repetition after a
  // conflict needs), the row, and the record of the stream.
  EXPECT_LE(copies, 5);
}

}  // namespace
}  // namespace stator::protocol
#endif
