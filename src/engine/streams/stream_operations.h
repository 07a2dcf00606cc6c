// SPDX-License-Identifier: Apache-2.0
// The operations on streams. Operations that return a result can wait for the store.
// engine/change_log/stream_retention.h: how long records are kept.
#pragma once

#include "api/model/responses.h"
#include "engine/core/engine_core.h"
#include "stator/client.h"

namespace stator {

Result<ListStreamsResult> list_streams(const EngineCore& engine, const ListStreamsRequest& request);
Result<DescribeStreamResult> describe_stream(const EngineCore& engine,
                                             const DescribeStreamRequest& request);
Result<GetShardIteratorResult> get_shard_iterator(const EngineCore& engine,
                                                  const GetShardIteratorRequest& request);
// Lifetime of the request: engine/core/run_read.h.
void get_records(EngineCore& engine, const GetRecordsRequest& request,
                 Done<GetRecordsResponse> done);

// Whether the stream exists and its records can be read: it is enabled, or ended less than a day
// ago.
bool is_readable_stream(const EngineCore& engine, const CatalogSnapshot& snapshot,
                        std::string_view arn);

}  // namespace stator
