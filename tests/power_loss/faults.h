// SPDX-License-Identifier: Apache-2.0
// A database on files that a test can make fail, under the load of a ledger.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "client/database_on_store.h"
#include "power_loss/lossy_file_system.h"
#include "storage/rocks_store.h"
#include "support/from_environment.h"
#include "support/ledger.h"
#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator::test {

inline constexpr std::size_t kWriters = 8;

// The database of one run, with its store and files.
struct Machine {
  explicit Machine(const std::filesystem::path& attic)
      : files(std::make_shared<LossyFileSystem>(attic)), env(make_env_on(files)) {}

  std::shared_ptr<LossyFileSystem> files;
  std::unique_ptr<rocksdb::Env> env;
  TransactStore* store = nullptr;
  std::optional<Database> database;  // destroyed first
};

class Faults : public testing::Test {
 protected:
  Faults() { std::filesystem::create_directory(directory_.path() / "attic"); }

  RocksStoreOptions options(Durability durability) const {
    RocksStoreOptions options{.path = directory_.path() / "data",
                              .durability = durability,
                              .boot = "boot " + std::to_string(boots_)};
    // With durability sync, small buffers cause frequent flushes, compactions and new logs.
    if (durability == Durability::kSync) options.write_buffer_bytes = 64UL << 10;
    return options;
  }

  Result<void> start(Machine& machine, Durability durability) const {
    STATOR_ASSIGN_OR_RETURN(auto store,
                            open_rocks_store_in(machine.env.get(), options(durability)));
    machine.store = store.get();
    STATOR_ASSIGN_OR_RETURN(Database database, open_database_on(std::move(store)));
    machine.database.emplace(std::move(database));
    return {};
  }

  void create() const {
    const auto machine = make_machine();
    ASSERT_THAT(start(*machine, Durability::kSync), IsOk());
    ASSERT_THAT(Ledger::create(*machine->database), IsOk());
  }

  std::unique_ptr<Machine> make_machine() const {
    return std::make_unique<Machine>(directory_.path() / "attic");
  }

  // Returns the result of each writer. All stop after one has failed.
  std::vector<Result<void>> write_until_failure(Client& client) {
    std::atomic<bool> stop = false;
    std::vector<Result<void>> ends(kWriters);
    std::vector<std::jthread> threads;
    threads.reserve(kWriters);
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      threads.emplace_back([&, writer] {
        ends[writer] = ledger_.write(client, writer, stop);
        stop = true;
      });
    }
    threads.clear();
    return ends;
  }

  // Discards unsynced data, and starts the machine again.
  void lose_power(Machine& machine) {
    machine.database.reset();
    machine.files->drop_unsynced(random_);
    ++boots_;
  }

  void check_after(Durability durability, Kept kept) {
    const auto machine = make_machine();
    const auto started = start(*machine, durability);
    ASSERT_THAT(started, IsOk());
    ledger_.settle(*machine->database, kept);
    ledger_.repeat_transactions(*machine->database);
  }

  const uint64_t seed_ = number_from_environment("STATOR_SEED", std::random_device{}());
  std::mt19937_64 random_{seed_};
  TempDir directory_;
  int boots_ = 0;
  Ledger ledger_{kWriters, random_()};
};

}  // namespace stator::test
