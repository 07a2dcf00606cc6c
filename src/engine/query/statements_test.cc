// SPDX-License-Identifier: Apache-2.0
// Batches of SELECT statements.
#include <gmock/gmock.h>

#include "engine/testing/engine_harness.h"
#include "support/forwarding_store.h"

namespace stator {
namespace {

using test::hash_table;
using test::IsOk;

// Fails reads while `fails` is true.
class UnreadableStore final : public test::ForwardingStore {
 public:
  explicit UnreadableStore(const bool& fails)
      : ForwardingStore(make_memory_store()), fails_(fails) {}
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    if (fails_) return done(fail(Code::kIo, "a damaged disk"));
    inner_->read(request, visit, std::move(done));
  }

 private:
  const bool& fails_;
};

class BatchesOfStatements : public test::EngineTest {
 protected:
  BatchesOfStatements() {
    open(std::make_unique<UnreadableStore>(fails_));
    create(hash_table());
    for (const char* key : {"a", "b"}) {
      EXPECT_THAT(put("Things", {{"pk", key}, {"v", std::string(5000, 'x')}, {"n", key}}), IsOk());
    }
  }
  ~BatchesOfStatements() override { engine_.reset(); }

  Result<BatchExecuteStatementResult> select_all() {
    return call_and_wait(*engine_, &Engine::batch_execute_statement,
                         {.statements = {{.statement = "SELECT n FROM Things WHERE pk = 'b'",
                                          .consistent_read = true},
                                         {.statement = "SELECT * FROM Nowhere WHERE pk = 'a'"},
                                         {.statement = "SELECT n FROM Things WHERE pk = 'none'"},
                                         {.statement = "SELECT"},
                                         {.statement = "SELECT pk FROM Things WHERE pk = 'a'"}},
                          .return_capacity = ReturnConsumedCapacity::kTotal});
  }

  bool fails_ = false;
};

TEST_F(BatchesOfStatements, RespondToEachAtItsPosition) {
  const auto batch = select_all();
  ASSERT_THAT(batch, IsOk());
  ASSERT_EQ(batch->responses.size(), 5U);
  EXPECT_EQ(batch->responses[0].item, (Item{{"n", "b"}}));
  EXPECT_EQ(batch->responses[0].table, "Things");
  ASSERT_TRUE(batch->responses[1].error);
  EXPECT_EQ(batch->responses[1].error->code, "ResourceNotFound");
  EXPECT_EQ(batch->responses[2].item, std::nullopt);
  EXPECT_EQ(batch->responses[2].error, std::nullopt);
  EXPECT_EQ(batch->responses[2].table, "Things");
  ASSERT_TRUE(batch->responses[3].error);
  EXPECT_EQ(batch->responses[3].error->code, "ValidationError");
  EXPECT_EQ(batch->responses[4].item, (Item{{"pk", "a"}}));
  ASSERT_EQ(batch->capacity.size(), 1U);
  EXPECT_EQ(batch->capacity[0].total.units, 2 + 0.5 + 1);
}

TEST_F(BatchesOfStatements, ReportAStoreThatFailsForEachSelect) {
  fails_ = true;
  const auto batch = select_all();
  fails_ = false;
  ASSERT_THAT(batch, IsOk());
  for (const std::size_t place : {0U, 2U, 4U}) {
    ASSERT_TRUE(batch->responses[place].error) << place;
    EXPECT_EQ(batch->responses[place].error->code, "InternalServerError");
    EXPECT_EQ(batch->responses[place].item, std::nullopt);
  }
  EXPECT_EQ(batch->responses[1].error->code, "ResourceNotFound");
}

}  // namespace
}  // namespace stator
