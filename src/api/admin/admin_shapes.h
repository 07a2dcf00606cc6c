// SPDX-License-Identifier: Apache-2.0
// The shapes of administrative requests, according to AWS's model.
#pragma once

#include "api/admin/document.h"

namespace stator::shapes {

// NOLINTBEGIN(readability-identifier-naming): constants, whose initial values are in the source.
extern const Shape kNothing;  // requests without members

extern const Shape kTagResource;
extern const Shape kUntagResource;
extern const Shape kListTagsOfResource;
extern const Shape kPutResourcePolicy;
extern const Shape kGetResourcePolicy;
extern const Shape kDeleteResourcePolicy;

extern const Shape kCreateBackup;
extern const Shape kBackupArn;  // DescribeBackup, DeleteBackup
extern const Shape kListBackups;
extern const Shape kRestoreTableFromBackup;
extern const Shape kTableName;  // requests that name a table, nothing else
extern const Shape kUpdateContinuousBackups;
extern const Shape kRestoreTableToPointInTime;

extern const Shape kCreateGlobalTable;
extern const Shape kGlobalTableName;
extern const Shape kListGlobalTables;
extern const Shape kUpdateGlobalTable;
extern const Shape kUpdateGlobalTableSettings;
extern const Shape kKinesisDestination;  // Enable, Disable, Update
extern const Shape kDescribeContributorInsights;
extern const Shape kListContributorInsights;
extern const Shape kUpdateContributorInsights;
extern const Shape kUpdateTableReplicaAutoScaling;

extern const Shape kExportTableToPointInTime;
extern const Shape kExportArn;
extern const Shape kListExports;
extern const Shape kImportTable;
extern const Shape kImportArn;
extern const Shape kListImports;
extern const Shape kStartBulkPutItems;
extern const Shape kBulkOperationArn;  // DescribeBulkOperation, CancelBulkOperation
extern const Shape kListBulkOperations;

// NOLINTEND(readability-identifier-naming)

}  // namespace stator::shapes
