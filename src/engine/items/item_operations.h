// SPDX-License-Identifier: Apache-2.0
// The operations on items by key. Lifetime of requests: engine/core/run_read.h.
#pragma once

#include "api/model/responses.h"
#include "engine/items/item_engine.h"
#include "stator/client.h"

namespace stator {

void get_item(EngineCore& engine, const GetItemRequest& request, Done<GetItemResponse> done);
void get_item(EngineCore& engine, const GetItemRequest& request, Done<GetItemResult> done);
void batch_get_item(EngineCore& engine, const BatchGetItemRequest& request,
                    Done<BatchGetItemResponse> done);
void transact_get_items(EngineCore& engine, const TransactGetItemsRequest& request,
                        Done<TransactGetItemsResponse> done);

void put_item(ItemEngine& engine, const PutItemRequest& request, Done<WriteResponse> done);
void update_item(ItemEngine& engine, const UpdateItemRequest& request, Done<WriteResponse> done);
void delete_item(ItemEngine& engine, const DeleteItemRequest& request, Done<WriteResponse> done);
void batch_write_item(ItemEngine& engine, const BatchWriteItemRequest& request,
                      Done<BatchWriteItemResult> done);
void transact_write_items(ItemEngine& engine, const TransactWriteItemsRequest& request,
                          Done<TransactWriteItemsResult> done);

}  // namespace stator
