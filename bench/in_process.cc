// SPDX-License-Identifier: Apache-2.0
// Operations in process, compared with plain RocksDB.
#include "bench/contests.h"
#include "bench/raw_rocks.h"
#include "stator/database.h"
#include "support/temp_dir.h"

namespace stator::bench {

bool in_process(const Settings& settings, Findings& findings) {
  const test::TempDir directory;
  const WorkOptions& work = settings.work;
  RawRocks raw(directory.path() / "raw");
  // Writes in an order unrelated to the keys, as with hashed keys.
  for (uint64_t i = 0; i < work.items; ++i) {
    if (!raw.put(raw_order(i, work.items), work.filler, false)) return false;
  }
  auto disk = Database::open({.path = directory.path() / "sync"});
  auto disk_os = Database::open({.path = directory.path() / "os", .durability = Durability::kOs});
  auto memory = Database::open();
  for (auto* database : {&disk, &disk_os, &memory}) {
    if (!*database || !fill(**database, work)) return false;
  }
  const OperationFactory raw_get = [&](int thread) -> Operation {
    return [&, numbers = Numbers(thread, work.items)]() mutable { return raw.get(numbers.next()); };
  };
  const auto raw_put = [&](bool sync) -> OperationFactory {
    return [&, sync](int thread) -> Operation {
      return [&, sync, numbers = Numbers(thread, work.items)]() mutable {
        return raw.put(numbers.next(), work.filler, sync);
      };
    };
  };
  const auto on_all = [&](Kind kind, int threads, std::vector<Contender> contenders) {
    contenders.push_back({"Database, on disk, sync", on_client(*disk, kind, work)});
    if (writes(kind))
      contenders.push_back({"Database, on disk, os", on_client(*disk_os, kind, work)});
    contenders.push_back({"Database, in memory", on_client(*memory, kind, work)});
    return run_contest({.title = std::string("in process: ") + title_of(kind),
                        .threads = threads,
                        .contenders = std::move(contenders)},
                       settings.plan, findings.measurements);
  };
  bool good = on_all(Kind::kGet, 1, {{"raw RocksDB Get", raw_get}}) &&
              on_all(Kind::kGet, 2, {{"raw RocksDB Get", raw_get}}) &&
              on_all(Kind::kQuery, 1, {}) && on_all(Kind::kTransact, 1, {}) &&
              on_all(Kind::kUpdate, 1, {});
  for (const int threads : {1, 64}) {
    good = good && on_all(Kind::kPut, threads, {{"raw RocksDB synced Put", raw_put(true)}});
  }
  return good &&
         run_contest({.title = "in process: one counter",
                      .threads = 64,
                      .contenders = {{"raw RocksDB synced Put, one writer", raw_put(true), 1},
                                     {"UpdateItem ADD, sync", count_on_client(*disk)}}},
                     settings.plan, findings.measurements);
}

}  // namespace stator::bench
