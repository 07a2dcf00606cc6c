// SPDX-License-Identifier: Apache-2.0
#include "engine/core/current_tables.h"

#include <string>
#include <vector>

namespace stator {
namespace {

Failure is_behind() {
  return fail(kBehind, "the definition of a table has changed");
}

bool is_newest(const Table& table, std::string_view row) {
  return row.size() == sizeof(uint64_t) && read_big_endian(row) == table.version();
}

// The version rows come first: whatever follows them is visited only if all are as expected.
Result<void> read_with_versions(const EngineCore& engine, TablesRead tables,
                                const ReadRequest& request, ReadVisitor visit) {
  std::vector<const Table*> distinct(tables.begin(), tables.end());
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  std::vector<std::string> keys;
  keys.reserve(distinct.size() + request.keys.size());
  for (const Table* table : distinct) keys.push_back(version_key(table->definition().space));
  keys.insert(keys.end(), request.keys.begin(), request.keys.end());
  std::size_t newest = 0;
  STATOR_RETURN_IF_ERROR(
      read_and_wait(*engine.store, {.keys = keys, .ranges = request.ranges, .one_state = true},
                    [&](std::size_t part, std::string_view key, std::string_view value) {
                      if (part < distinct.size())
                        return is_newest(*distinct[part], value) && ++newest > 0;
                      return newest == distinct.size() && visit(part - distinct.size(), key, value);
                    }));
  if (newest < distinct.size()) return is_behind();
  return {};
}

}  // namespace

Result<void> read_tables(const EngineCore& engine, TablesRead tables, const ReadRequest& request,
                         ReadVisitor visit) {
  if (engine.catalog->is_shared()) return read_with_versions(engine, tables, request, visit);
  return read_and_wait(*engine.store, request, visit);
}

Result<void> view_table(const EngineCore& engine, const Table& table, ViewBody body) {
  if (!engine.catalog->is_shared()) return view_and_wait(*engine.store, body);
  return view_and_wait(*engine.store, [&](ReadView& view) -> Result<void> {
    bool newest = false;
    STATOR_RETURN_IF_ERROR(
        view.get(version_key(table.definition().space),
                 [&](std::string_view value) { newest = is_newest(table, value); }));
    return newest ? body(view) : is_behind();
  });
}

}  // namespace stator
