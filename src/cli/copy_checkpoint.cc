// SPDX-License-Identifier: Apache-2.0
#include "cli/copy_checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "transfer/bucket.h"

namespace stator::cli {
namespace {

constexpr std::size_t kCheckpointBytesMax = 64UL << 20;

// Includes more than the ids, because not every endpoint returns ids.
std::string identity_of(const TableDescription& source, const TableDescription& target) {
  std::string both;
  for (const TableDescription* table : {&source, &target}) {
    both += fmt::format("{} {} {}\n", table->arn, table->id, table->created_ms);
  }
  return hex(sha256({both}));
}

Result<ScanPositions> positions_in(const List& segments) {
  ScanPositions positions;
  for (const AttributeValue& value : segments) {
    const Item& segment = as_map(value);
    SegmentPosition position{.items = integer_of(segment, "items"),
                             .ended = boolean_of(segment, "ended")};
    if (const std::string after = text_of(segment, "after"); !after.empty()) {
      STATOR_ASSIGN_OR_RETURN(position.after, wire::item_from_json(after));
    }
    positions.push_back(std::move(position));
  }
  if (positions.empty() || positions.size() > kSegmentsMax) {
    return fail(Code::kInvalidArgument, "wrong number of segments");
  }
  return positions;
}

}  // namespace

Result<CopyCheckpoint> CopyCheckpoint::load(const std::string& path, const std::string& ends) {
  CopyCheckpoint checkpoint(path, hex(sha256({ends})));
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return checkpoint;
  const auto refuse = [&] {
    return fail(Code::kInvalidArgument, "'" + path +
                                            "' is not a checkpoint of this copy; use another "
                                            "file, or remove it");
  };
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kCheckpointBytesMax) return refuse();
  std::string text(size, '\0');
  if (!std::ifstream(path, std::ios::binary).read(text.data(), std::ssize(text))) return refuse();
  const auto kept = wire::item_from_plain_json(text);
  if (!kept || text_of(*kept, "copy") != checkpoint.ends_) return refuse();
  for (const auto& [identity, segments] : map_of(*kept, "tables")) {
    const List* const list = segments.get_if<List>();
    auto positions = positions_in(list == nullptr ? List() : *list);
    if (!positions) return refuse();
    checkpoint.tables_.emplace(identity, *std::move(positions));
  }
  return checkpoint;
}

const ScanPositions* CopyCheckpoint::find(const TableDescription& source,
                                          const TableDescription& target) const {
  const auto found = tables_.find(identity_of(source, target));
  return found == tables_.end() ? nullptr : &found->second;
}

Result<void> CopyCheckpoint::save(const TableDescription& source, const TableDescription& target,
                                  ScanPositions positions) {
  tables_.insert_or_assign(identity_of(source, target), std::move(positions));
  if (path_.empty()) return {};
  Map tables;
  for (const auto& [identity, segments] : tables_) {
    List list;
    for (const SegmentPosition& segment : segments) {
      list.emplace_back(
          Map{{"after", segment.after ? wire::item_to_json(*segment.after) : std::string()},
              {"items", segment.items},
              {"ended", segment.ended}});
    }
    tables.emplace(identity, std::move(list));
  }
  return transfer::replace_file(
      std::filesystem::absolute(path_),
      wire::item_to_plain_json({{"copy", ends_}, {"tables", std::move(tables)}}) + "\n");
}

Result<void> CopyCheckpoint::remove() {
  tables_.clear();
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove(path_, error);
  if (error) return fail(Code::kIo, "could not delete '" + path_ + "': " + error.message());
  return {};
}

}  // namespace stator::cli
