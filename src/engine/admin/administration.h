// SPDX-License-Identifier: Apache-2.0
// Administrative operations, with documents as requests and responses. protocol/operations.h maps
// their names.
//
// Blocking: all of them can wait for the store.
#pragma once

#include "api/admin/admin_shapes.h"
#include "engine/jobs/job_engine.h"

namespace stator::admin {

struct Operation {
  const Shape& request;  // the shape of the request
  Result<Item> (*run)(JobEngine& engine, const Item& request);
  bool has_output = true;  // false: the body of the response is empty
};

// NOLINTBEGIN(readability-identifier-naming): constants, whose initial values are in the sources.
extern const Operation kTagResource;
extern const Operation kUntagResource;
extern const Operation kListTagsOfResource;
extern const Operation kPutResourcePolicy;
extern const Operation kGetResourcePolicy;
extern const Operation kDeleteResourcePolicy;

extern const Operation kCreateBackup;
extern const Operation kDescribeBackup;
extern const Operation kListBackups;
extern const Operation kDeleteBackup;
extern const Operation kRestoreTableFromBackup;
extern const Operation kDescribeContinuousBackups;
extern const Operation kUpdateContinuousBackups;
extern const Operation kRestoreTableToPointInTime;

extern const Operation kImportTable;
extern const Operation kDescribeImport;
extern const Operation kListImports;

extern const Operation kExportTableToPointInTime;
extern const Operation kDescribeExport;
extern const Operation kListExports;

extern const Operation kStartBulkPutItems;
extern const Operation kDescribeBulkOperation;
extern const Operation kListBulkOperations;
extern const Operation kCancelBulkOperation;

extern const Operation kDescribeLimits;
extern const Operation kDescribeEndpoints;

extern const Operation kDescribeContributorInsights;
extern const Operation kListContributorInsights;
extern const Operation kUpdateContributorInsights;
extern const Operation kDescribeKinesisStreamingDestination;
extern const Operation kEnableKinesisStreamingDestination;
extern const Operation kDisableKinesisStreamingDestination;
extern const Operation kUpdateKinesisStreamingDestination;
extern const Operation kDescribeTableReplicaAutoScaling;
extern const Operation kUpdateTableReplicaAutoScaling;

extern const Operation kCreateGlobalTable;
extern const Operation kDescribeGlobalTable;
extern const Operation kListGlobalTables;
extern const Operation kUpdateGlobalTable;
extern const Operation kDescribeGlobalTableSettings;
extern const Operation kUpdateGlobalTableSettings;
// NOLINTEND(readability-identifier-naming)

}  // namespace stator::admin
