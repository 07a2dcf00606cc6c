// SPDX-License-Identifier: Apache-2.0
// BulkInput: reads the puts in the objects of a bulk put operation, in batches. Its own thread
// reads and checks them in advance, so that the job that writes them does not wait.
//
// Order: the objects by their keys, and the records of an object as they are stored. A batch
// contains each key at most once.
// Memory: kBatchesAhead batches of about kBulkBatchBytes.
// Thread safety: one thread calls next().
// Errors: temporary ones of the objects (is_passing()), after the batches before them. An object
// that can never be read is returned as a failed put.
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
  uint64_t begin = 0;  // position of its record, in uncompressed bytes of the object
  uint64_t end = 0;
  std::optional<WriteAction> action = {};  // absent: the put has failed
  Error error = {};                        // of a failed put
  std::optional<Item> item = {};           // of a failed put, if it could be parsed
};

// Without puts, if none were found in a part of the object.
struct BulkBatch {
  std::string object;        // its key
  std::deque<BulkPut> puts;  // large: not moved as it grows
  uint64_t end = 0;          // position after them, in uncompressed bytes of the object
  int64_t read_bytes = 0;    // stored bytes of the object that have been read
  bool ends_object = false;
};

struct BulkSource {
  transfer::Bucket bucket;
  std::vector<std::string> keys;  // of the objects, in order
  transfer::DataFormat format = transfer::DataFormat::kDynamoDbJson;
  transfer::Compression compression = transfer::Compression::kNone;
  uint64_t position = 0;  // where to start in the first object: BulkBatch::end of an earlier batch
};

class BulkInput {
 public:
  BulkInput(BulkSource source, TablePtr table);
  BulkInput(const BulkInput&) = delete;
  BulkInput& operator=(const BulkInput&) = delete;
  ~BulkInput();

  // Returns the next batch, and waits for it if necessary; absent at the end. After an error, only
  // another BulkInput can continue.
  Result<std::optional<BulkBatch>> next();

 private:
  void run();
  Result<void> read_all();
  Result<void> read_object(const std::string& key, uint64_t position);
  // Errors: kCancelled if the reader is being destroyed.
  Result<void> hand_over(BulkBatch batch);
  Result<WriteAction> check(PutItemRequest& put) const;

  const BulkSource source_;
  const TablePtr table_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BulkBatch> ready_;
  std::optional<Result<void>> ended_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace stator
