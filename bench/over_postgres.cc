// SPDX-License-Identifier: Apache-2.0
// Operations on a PostgreSQL server of the benchmark's own, compared with libpq alone.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "bench/contests.h"
#include "bench/raw_postgres.h"
#include "stator/database.h"
#include "storage/postgres/postgres_store.h"
#include "support/postgres_server.h"

namespace stator::bench {
namespace {

// A server that syncs each commit, with the rows of both candidates.
class Servers {
 public:
  bool start(const WorkOptions& work);

  // Stator, as one and as two processes would use the server.
  OperationFactory on_one(Kind kind, const WorkOptions& work) {
    return on_client(*databases_[0], kind, work);
  }
  OperationFactory on_both(Kind kind, const WorkOptions& work) {
    return [this, kind, &work](int thread) {
      return on_client(*databases_[static_cast<std::size_t>(thread % 2)], kind, work)(thread);
    };
  }
  OperationFactory on_libpq(Kind kind, const WorkOptions& work) const;

 private:
  test::PostgresServer server_{{"fsync=on", "full_page_writes=on", "autovacuum=on",
                                "shared_buffers=256MB", "max_wal_size=4GB"}};
  std::array<std::optional<Database>, 2> databases_;
};

bool Servers::start(const WorkOptions& work) {
  if (server_.dsn().empty()) {
    std::fputs("PostgreSQL did not start; install the package postgresql\n", stderr);
    return false;
  }
  for (auto& database : databases_) {
    if (const auto made = initialize_postgres_store({.dsn = server_.url()}); !made) {
      std::fprintf(stderr, "%s\n", made.error().message.c_str());
      return false;
    }
    auto opened = Database::open({.store = server_.url()});
    if (!opened) {
      std::fprintf(stderr, "%s\n", opened.error().message.c_str());
      return false;
    }
    database.emplace(std::move(*opened));
  }
  return fill(*databases_[0], work) &&
         RawPostgres(server_.dsn()).fill(work.items, kPartitions, kPageItems, work.filler);
}

OperationFactory Servers::on_libpq(Kind kind, const WorkOptions& work) const {
  return [kind, &work, dsn = server_.dsn()](int thread) -> Operation {
    auto raw = std::make_shared<RawPostgres>(dsn);
    return [kind, &work, raw, numbers = Numbers(thread, work.items)]() mutable {
      switch (kind) {
        case Kind::kGet:
          return raw->get(numbers.next());
        case Kind::kPut:
          return raw->put(numbers.next(), work.filler);
        case Kind::kUpdate:
          return raw->update(numbers.next(), work.filler);
        case Kind::kQuery:
          return raw->read_page(numbers.next() % kPartitions, kPageItems);
        case Kind::kTransact:
          return raw->put_four(numbers.next(), work.items, work.filler);
        case Kind::kBatchWrite:
          break;
      }
      return false;
    };
  };
}

constexpr Kind kCompared[] = {Kind::kGet, Kind::kPut, Kind::kUpdate, Kind::kTransact, Kind::kQuery};

}  // namespace

bool over_postgres(const Settings& settings, Findings& findings) {
  Servers servers;
  const WorkOptions& work = settings.work;
  if (!servers.start(work)) return false;
  bool good = true;
  for (const Kind kind : kCompared) {
    for (const int threads : {1, 16, 64}) {
      std::vector<Contender> contenders{{"libpq", servers.on_libpq(kind, work)},
                                        {"one Database", servers.on_one(kind, work)}};
      if (threads > 1) contenders.push_back({"two Databases", servers.on_both(kind, work)});
      good = run_contest({.title = std::string("PostgreSQL: ") + title_of(kind),
                          .threads = threads,
                          .contenders = std::move(contenders)},
                         settings.plan, findings.measurements) &&
             good;
    }
  }
  return good;
}

bool postgres_growth(const Settings& settings, Findings& findings) {
  bool good = true;
  for (uint64_t items = 10'000; items <= settings.work.items; items *= 10) {
    Servers servers;
    const WorkOptions work{.items = items, .filler = std::string(60, 'x')};
    if (!servers.start(work)) return false;
    for (const Kind kind : {Kind::kGet, Kind::kPut, Kind::kUpdate, Kind::kQuery}) {
      good = run_contest({.title = fmt::format("PostgreSQL, {} items: {}", items, title_of(kind)),
                          .threads = 16,
                          .contenders = {{"libpq", servers.on_libpq(kind, work)},
                                         {"one Database", servers.on_one(kind, work)}}},
                         settings.plan, findings.measurements) &&
             good;
    }
  }
  return good;
}

}  // namespace stator::bench
