// SPDX-License-Identifier: Apache-2.0
// Administrative operations, by a table of rules.
#include <algorithm>
#include <string_view>

#include "access/gather.h"
#include "api/admin/document.h"

namespace stator::access {
namespace {

// The resource of an operation.
enum class Target {
  kNothing,      // no resource
  kTable,        // the table in TableName
  kArn,          // the ARN in `member`: a table's, or of something below a table
  kGlobalTable,  // GlobalTableName
  kImport,       // the table that ImportTable creates
  kRestore,      // the source, and the table that is restored from it
};

struct Rule {
  std::string_view operation;
  Target target;
  std::string_view member = {};
};

// In the order of their names.
constexpr Rule kRules[] = {
    {"CancelBulkOperation", Target::kArn, "BulkOperationArn"},
    {"CreateBackup", Target::kTable},
    {"CreateGlobalTable", Target::kGlobalTable},
    {"DeleteBackup", Target::kArn, "BackupArn"},
    {"DeleteResourcePolicy", Target::kArn, "ResourceArn"},
    {"DescribeBackup", Target::kArn, "BackupArn"},
    {"DescribeBulkOperation", Target::kArn, "BulkOperationArn"},
    {"DescribeContinuousBackups", Target::kTable},
    {"DescribeContributorInsights", Target::kTable},
    {"DescribeEndpoints", Target::kNothing},
    {"DescribeExport", Target::kArn, "ExportArn"},
    {"DescribeGlobalTable", Target::kGlobalTable},
    {"DescribeGlobalTableSettings", Target::kGlobalTable},
    {"DescribeImport", Target::kArn, "ImportArn"},
    {"DescribeKinesisStreamingDestination", Target::kTable},
    {"DescribeLimits", Target::kNothing},
    {"DescribeTableReplicaAutoScaling", Target::kTable},
    {"DisableKinesisStreamingDestination", Target::kTable},
    {"EnableKinesisStreamingDestination", Target::kTable},
    {"ExportTableToPointInTime", Target::kArn, "TableArn"},
    {"GetResourcePolicy", Target::kArn, "ResourceArn"},
    {"ImportTable", Target::kImport},
    {"ListBackups", Target::kNothing},
    {"ListBulkOperations", Target::kNothing},
    {"ListContributorInsights", Target::kNothing},
    {"ListExports", Target::kNothing},
    {"ListGlobalTables", Target::kNothing},
    {"ListImports", Target::kNothing},
    {"ListTagsOfResource", Target::kArn, "ResourceArn"},
    {"PutResourcePolicy", Target::kArn, "ResourceArn"},
    {"RestoreTableFromBackup", Target::kRestore, "BackupArn"},
    {"RestoreTableToPointInTime", Target::kRestore},
    {"StartBulkPutItems", Target::kTable},
    {"TagResource", Target::kArn, "ResourceArn"},
    {"UntagResource", Target::kArn, "ResourceArn"},
    {"UpdateContinuousBackups", Target::kTable},
    {"UpdateContributorInsights", Target::kTable},
    {"UpdateGlobalTable", Target::kGlobalTable},
    {"UpdateGlobalTableSettings", Target::kGlobalTable},
    {"UpdateKinesisStreamingDestination", Target::kTable},
    {"UpdateTableReplicaAutoScaling", Target::kTable},
};
static_assert(std::ranges::is_sorted(kRules, {}, &Rule::operation));

// The caller also needs rights for the actions of a restoration on the new table.
constexpr std::string_view kRestoreActions[] = {
    "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"};

void add_restore(Needs& needs, const Rule& rule, const Item& request) {
  if (!rule.member.empty()) {
    needs.on_table_arn(rule.operation, text_of(request, rule.member));
  } else {
    // The document contains the table's name in place of its ARN.
    const bool has_arn = request.contains("SourceTableArn");
    needs.on_table(rule.operation,
                   text_of(request, has_arn ? "SourceTableArn" : "SourceTableName"));
  }
  const std::string target = text_of(request, "TargetTableName");
  needs.on_table(rule.operation, target);
  for (const std::string_view action : kRestoreActions) needs.on_table(action, target);
}

void add_request_tags(Need& need, const Item& request) {
  for (const AttributeValue& value : list_of(request, "Tags")) {
    const Item& tag = as_map(value);
    need.context.tag_keys.push_back(text_of(tag, "Key"));
    need.context.request_tags.insert_or_assign(text_of(tag, "Key"), text_of(tag, "Value"));
  }
  for (const AttributeValue& key : list_of(request, "TagKeys")) {
    need.context.tag_keys.push_back(as_text(key));
  }
}

}  // namespace

Result<void> gather(Needs& needs, std::string_view operation, const Item& request) {
  const auto rule = std::ranges::lower_bound(kRules, operation, {}, &Rule::operation);
  if (rule == std::end(kRules) || rule->operation != operation) {
    return fail(Code::kAccessDenied, "no policy can allow this operation");
  }
  switch (rule->target) {
    case Target::kNothing:
      needs.anywhere(operation);
      break;
    case Target::kTable:
      needs.on_table(operation, text_of(request, "TableName"));
      break;
    case Target::kArn:
      add_request_tags(needs.on_table_arn(operation, text_of(request, rule->member)), request);
      break;
    case Target::kGlobalTable: {
      const std::string name = text_of(request, "GlobalTableName");
      needs.on_resource(operation,
                        "arn:aws:dynamodb::" + needs.view().account() + ":global-table/" + name);
      needs.on_table(operation, name);
      break;
    }
    case Target::kImport:
      needs.on_table(operation, text_of(map_of(request, "TableCreationParameters"), "TableName"));
      break;
    case Target::kRestore:
      add_restore(needs, *rule, request);
      break;
  }
  return {};
}

}  // namespace stator::access
