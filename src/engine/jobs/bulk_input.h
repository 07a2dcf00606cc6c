// SPDX-License-Identifier: Apache-2.0
// BulkInput: the puts in the objects of a bulk put operation, in batches. A thread of its own reads
// and checks them ahead, so that the job that writes them does not wait for it.
//
// Order: that of the objects' keys, and of the records in an object. A batch has no key twice.
// Memory: kBatchesAhead batches of about kBulkBatchBytes.
// Thread safety: one thread calls next().
// Errors: none of its own; an object that cannot be read has a failed put.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/items/write_action.h"
#include "transfer/bucket.h"
#include "transfer/item_reader.h"

namespace stator {

struct BulkPut {
  uint64_t begin = 0;  // of its record, in uncompressed bytes of the object
  uint64_t end = 0;
  std::optional<WriteAction> action = {};  // absent: it has failed
  Error error = {};                        // why
  std::optional<Item> item = {};           // of a put that has failed, if there is one
};

struct BulkBatch {
  std::string object;  // its key
  std::vector<BulkPut> puts;
  uint64_t end = 0;        // behind them, in uncompressed bytes of the object
  int64_t read_bytes = 0;  // of the object as it is stored, so far
  bool ends_object = false;
};

struct BulkSource {
  transfer::Bucket bucket;
  std::vector<std::string> keys;  // of the objects, in order
  transfer::DataFormat format = transfer::DataFormat::kDynamoDbJson;
  transfer::Compression compression = transfer::Compression::kNone;
  uint64_t position = 0;  // in the first object, as BulkBatch::end of an earlier batch of it
};

class BulkInput {
 public:
  BulkInput(BulkSource source, TablePtr table);
  BulkInput(const BulkInput&) = delete;
  BulkInput& operator=(const BulkInput&) = delete;
  ~BulkInput();

  // Waits for the next batch; absent at the end.
  std::optional<BulkBatch> next();

 private:
  void run();
  bool read_object(const std::string& key, uint64_t position);
  // False: nobody waits for it.
  bool hand_over(BulkBatch batch);
  Result<WriteAction> check(PutItemRequest& put) const;

  const BulkSource source_;
  const TablePtr table_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BulkBatch> ready_;
  bool ended_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace stator
