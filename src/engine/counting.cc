// SPDX-License-Identifier: Apache-2.0
#include "engine/counting.h"

#include <numeric>

namespace stator {
namespace {

bool count(ReadView& view, SpaceId space, Counters& counters, const Worker& worker) {
  int64_t items = 0;
  int64_t bytes = 0;
  const auto scanned =
      view.scan({.range = space_range(space)}, [&](std::string_view, std::string_view value) {
        ++items;
        bytes += static_cast<int64_t>(item_size_bytes(ItemView(value)));
        return !worker.stopping();
      });
  counters.items += items;
  counters.bytes += bytes;
  return scanned && !worker.stopping();
}

}  // namespace

bool recount(Engine::Impl& engine, const Table& table, std::span<const std::size_t> positions,
             const Worker& worker) {
  const std::optional<uint64_t> writes_before = engine.writes.entered_if_empty();
  auto view = engine.store->read_view();
  if (!view) return false;
  for (const std::size_t position : positions) {
    table.counters(position).items = 0;
    table.counters(position).bytes = 0;
  }
  if (!writes_before || writes_before != engine.writes.entered_if_empty()) {
    table.counted_roughly() = true;
  }
  const std::vector<SpaceId> spaces = table.spaces();
  return std::ranges::all_of(positions, [&](std::size_t position) {
    return count(**view, spaces[position], table.counters(position), worker);
  });
}

void CountJob::run() {
  std::vector<std::size_t> positions(table_->spaces().size());
  std::iota(positions.begin(), positions.end(), 0);
  table_->counted_roughly() = false;
  complete_ = recount(engine_, *table_, positions, engine_.housekeeping);
}

}  // namespace stator
