// SPDX-License-Identifier: Apache-2.0
// The operations on tables and their time to live. All of them can wait for the store.
#pragma once

#include "engine/schema/schema_engine.h"
#include "stator/client.h"

namespace stator {

Result<CreateTableResult> create_table(SchemaEngine& engine, const CreateTableRequest& request);
Result<DescribeTableResult> describe_table(EngineCore& engine, const DescribeTableRequest& request);
Result<ListTablesResult> list_tables(const EngineCore& engine, const ListTablesRequest& request);
Result<UpdateTableResult> update_table(SchemaEngine& engine, const UpdateTableRequest& request);
Result<DeleteTableResult> delete_table(SchemaEngine& engine, const DeleteTableRequest& request);

Result<UpdateTimeToLiveResult> update_time_to_live(SchemaEngine& engine,
                                                   const UpdateTimeToLiveRequest& request);
Result<DescribeTimeToLiveResult> describe_time_to_live(const EngineCore& engine,
                                                       const DescribeTimeToLiveRequest& request);

}  // namespace stator
