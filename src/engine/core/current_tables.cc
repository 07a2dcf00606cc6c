// SPDX-License-Identifier: Apache-2.0
#include "engine/core/current_tables.h"

#include <memory>
#include <string>
#include <string_view>

#include "engine/errors/messages.h"

namespace stator {
namespace {

Failure is_behind() {
  return fail(kBehind, "the definition of a table has changed");
}

bool is_newest(const Table& table, std::string_view row) {
  return row.size() == sizeof(uint64_t) && read_big_endian(row) == table.version();
}

// The version rows come first: the rows of the request are visited only if all versions match.
struct ReadWithVersions {
  const std::vector<const Table*> tables;
  const ReadVisitor visit;
  const std::optional<FunctionRef<void()>> start_over;
  ReadDone done;
  std::vector<std::string> keys = {};
  std::size_t newest = 0;  // tables whose version matched

  bool operator()(std::size_t part, std::string_view key, std::string_view value) {
    if (part < tables.size()) return is_newest(*tables[part], value) && ++newest > 0;
    return newest == tables.size() && visit(part - tables.size(), key, value);
  }
  void operator()() {
    newest = 0;
    (*start_over)();
  }
};

struct ViewWithVersion {
  const Table& table;
  const ViewBody body;
  ReadDone done;

  Result<void> operator()(ReadView& view) {
    bool newest = false;
    STATOR_RETURN_IF_ERROR(
        view.get(version_key(table.definition().space),
                 [&](std::string_view value) { newest = is_newest(table, value); }));
    return newest ? body(view) : is_behind();
  }
};

}  // namespace

void read_with_versions(TransactStore& store, std::vector<const Table*> tables,
                        const ReadRequest& request, ReadVisitor visit, ReadDone done) {
  std::ranges::sort(tables);
  tables.erase(std::ranges::unique(tables).begin(), tables.end());
  auto pending =
      std::make_unique<ReadWithVersions>(ReadWithVersions{.tables = std::move(tables),
                                                          .visit = visit,
                                                          .start_over = request.start_over,
                                                          .done = std::move(done)});
  ReadWithVersions& read = *pending;
  read.keys.reserve(read.tables.size() + request.keys.size());
  for (const Table* table : read.tables) {
    read.keys.push_back(version_key(table->definition().space));
  }
  read.keys.insert(read.keys.end(), request.keys.begin(), request.keys.end());
  ReadRequest all{.keys = read.keys, .ranges = request.ranges, .one_state = true};
  if (read.start_over) all.start_over = read;
  store.read(all, read, [pending = std::move(pending)](Result<void> outcome) {
    if (outcome && pending->newest < pending->tables.size()) outcome = is_behind();
    pending->done(std::move(outcome));
  });
}

void view_table(EngineCore& engine, const Table& table, ViewBody body, ReadDone done) {
  if (!engine.is_shared) return engine.store->with_view(body, std::move(done));
  auto pending = std::make_unique<ViewWithVersion>(
      ViewWithVersion{.table = table, .body = body, .done = std::move(done)});
  ViewWithVersion& view = *pending;
  engine.store->with_view(view, [pending = std::move(pending)](Result<void> outcome) {
    pending->done(std::move(outcome));
  });
}

Result<Catalog::SnapshotPtr> snapshot_after_failure(const EngineCore& engine, uint64_t version,
                                                    bool behind, int attempts) {
  constexpr int kAttemptsMax = 20;
  STATOR_ASSIGN_OR_RETURN(auto newest, engine.catalog->newest_snapshot());
  if (newest->version == version && !behind) return nullptr;
  if (attempts == kAttemptsMax) return fail(Code::kThrottling, messages::kTooBusy);
  return newest;
}

}  // namespace stator
