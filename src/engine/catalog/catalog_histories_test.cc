// SPDX-License-Identifier: Apache-2.0
// Random changes of one catalog by concurrent processes, on a backend with all failures that a
// store can hide.
//
// Each change creates one version of the catalog, so the versions give the order of the changes.
// Each change must be based on the result of the previous one.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "engine/testing/shared_catalog.h"
#include "support/from_environment.h"

namespace stator {
namespace {

using test::hash_table;
using test::IsOk;
using test::kNowMs;
using test::SharedCatalog;

constexpr std::size_t kProcesses = 3;
constexpr int kChanges = 40;  // per process

enum class Kind { kCreate, kUpdate, kDrop, kBeginRestore, kFinishRestore, kCancelRestore };

struct Event {
  uint64_t version = 0;  // of the catalog after the change
  Kind kind = Kind::kCreate;
  bool done = false;  // false: rejected because of an existing or missing table
  std::string name;
  std::string before;  // the definition that the change was based on
  std::string after;
  bool exists = false;  // the table, after the change
  // Of several events with one version, the first is the change, and the others only read it.
  int rank() const {
    if (kind == Kind::kFinishRestore || kind == Kind::kCancelRestore) return 1;
    return done ? 0 : 2;
  }
};

class Process {
 public:
  Process(test::SharedBackend& backend, uint32_t seed) : catalog_(backend, seed), random_(seed) {}

  void run() {
    for (int i = 0; i < kChanges; ++i) step();
  }
  const std::vector<Event>& events() const { return events_; }

 private:
  void step() {
    Event event{.kind = static_cast<Kind>(random_() % 6), .name = "T" + pick(3)};
    // Lets most tables live for some time.
    if (event.kind == Kind::kDrop && random_() % 2 == 0) event.kind = Kind::kUpdate;
    Result<void> result = change(event);
    const auto snapshot = catalog_->snapshot();
    event.version = snapshot->version;
    event.exists = snapshot->tables.contains(event.name);
    event.done = result.has_value();
    if (!result && result.error().code == Code::kThrottling) return;
    events_.push_back(std::move(event));
  }

  std::string pick(unsigned count) { return std::to_string(random_() % count); }

  Result<void> change(Event& event) {
    switch (event.kind) {
      case Kind::kCreate: {
        STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                                catalog_->create(hash_table(event.name), kNowMs));
        event.after = encode_table(table->definition());
        return {};
      }
      case Kind::kUpdate:
        return update(event);
      case Kind::kDrop: {
        STATOR_RETURN_IF_ERROR(catalog_->drop(
            event.name, kNowMs, [&](const Table& table) -> std::optional<NamedRecord> {
              event.before = encode_table(table.definition());
              return std::nullopt;
            }));
        return {};
      }
      case Kind::kBeginRestore: {
        const std::string id = std::to_string(random_()) + "-" + std::to_string(events_.size());
        STATOR_ASSIGN_OR_RETURN(
            const TablePtr table,
            catalog_->begin_restore(
                {.settings = hash_table(event.name), .id = id, .created_ms = kNowMs}, Item()));
        event.after = encode_table(table->definition());
        return {};
      }
      case Kind::kFinishRestore:
        return catalog_->finish_restore(event.name);
      case Kind::kCancelRestore:
        return catalog_->cancel_restore(event.name);
    }
    return {};
  }

  Result<void> update(Event& event) {
    const unsigned what = static_cast<unsigned>(random_() % 4);
    const std::string mark = std::to_string(random_());
    auto updated = catalog_->update(
        event.name, kNowMs,
        [&](TableDefinition& definition) -> Result<void> {
          event.before = encode_table(definition);
          CreateTableRequest& settings = definition.settings;
          if (what == 0) {
            settings.global_indexes.emplace();
            settings.global_indexes->push_back(
                test::index_on("I" + mark, {{"pk", KeyType::kHash}}));
            definition.global_spaces = {0};
          } else if (what == 1) {
            settings.global_indexes.reset();
            definition.global_spaces.clear();
          } else if (what == 2) {
            const bool enabled = settings.stream && settings.stream->enabled;
            settings.stream = {.enabled = !enabled};
            if (!enabled) settings.stream->view = StreamViewType::kKeysOnly;
          }
          settings.tags = {{.key = mark, .value = ""}};
          return {};
        },
        test::no_fill);
    if (!updated) return failure_of(std::move(updated));
    event.after = encode_table(updated->after->definition());
    return {};
  }

  SharedCatalog catalog_;
  std::mt19937 random_;
  std::vector<Event> events_;
};

class Model {
 public:
  void apply(const Event& event) {
    SCOPED_TRACE("version " + std::to_string(event.version) + ", " + event.name + ", kind " +
                 std::to_string(static_cast<int>(event.kind)));
    const bool exists = tables_.contains(event.name);
    const bool restores = restoring_.contains(event.name);
    switch (event.kind) {
      case Kind::kCreate:
      case Kind::kBeginRestore:
        EXPECT_EQ(event.done, !exists && !restores);
        if (!event.done) return;
        (event.kind == Kind::kCreate ? tables_ : restoring_)[event.name] = event.after;
        return own(event.after);
      case Kind::kUpdate:
        EXPECT_EQ(event.done, exists);
        if (!event.done) return;
        EXPECT_EQ(text(tables_[event.name]), text(event.before)) << "a change was lost";
        tables_[event.name] = event.after;
        return own(event.after);
      case Kind::kDrop:
        EXPECT_EQ(event.done, exists);
        if (!event.done) return;
        EXPECT_EQ(text(tables_[event.name]), text(event.before)) << "a change was lost";
        tables_.erase(event.name);
        return;
      case Kind::kFinishRestore:
        if (!restores || !event.exists) return;
        tables_[event.name] = restoring_[event.name];
        restoring_.erase(event.name);
        return;
      case Kind::kCancelRestore:
        if (!event.exists) restoring_.erase(event.name);
        return;
    }
  }

  void expect_to_be(const CatalogSnapshot& stored) const {
    EXPECT_EQ(definitions(stored.tables), texts(tables_));
    EXPECT_EQ(definitions(stored.restoring), texts(restoring_));
  }

 private:
  using Definitions = std::map<std::string, std::string>;

  static std::string text(const std::string& definition) {
    return definition.empty() ? "" : to_debug_string(decode_item(ItemView(definition)));
  }
  static Definitions texts(const Definitions& from) {
    Definitions all;
    for (const auto& [name, definition] : from) all[name] = text(definition);
    return all;
  }
  template <class Tables>
  static Definitions definitions(const Tables& tables) {
    Definitions all;
    for (const auto& [name, table] : tables) all[name] = text(encode_table(table->definition()));
    return all;
  }

  void own(const std::string& bytes) {
    const TableDefinition definition = test::must(decode_table(bytes));
    std::vector<SpaceId> spaces = definition.all_spaces();
    if (definition.log_space != 0) spaces.push_back(definition.log_space);
    for (const SpaceId space : spaces) {
      const auto [owner, is_new] = owners_.emplace(space, definition.id);
      EXPECT_EQ(owner->second, definition.id) << "space " << space << " was given out twice";
    }
  }

  Definitions tables_;
  Definitions restoring_;
  std::map<SpaceId, std::string> owners_;  // the table's id, by every space ever allocated
};

TEST(CatalogHistories, HaveOneOrderThatLosesNoChange) {
  const auto seed =
      static_cast<uint32_t>(test::number_from_environment("STATOR_SEED", std::random_device{}()));
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  test::SharedBackend backend(seed, {.conflicts = 30, .lost_replies = 50, .late = 50});
  std::vector<std::unique_ptr<Process>> processes;
  for (uint32_t i = 0; i < kProcesses; ++i) {
    processes.push_back(std::make_unique<Process>(backend, seed + i));
  }
  std::vector<std::thread> threads;
  for (const auto& process : processes) threads.emplace_back([&process] { process->run(); });
  for (std::thread& thread : threads) thread.join();

  std::vector<Event> events;
  for (const auto& process : processes) {
    events.insert(events.end(), process->events().begin(), process->events().end());
  }
  std::ranges::sort(events, {},
                    [](const Event& event) { return std::pair(event.version, event.rank()); });
  Model model;
  for (const Event& event : events) model.apply(event);
  EXPECT_GT(events.back().version, 20U) << "hardly anything was changed";
  processes.clear();
  backend.deliver_late();
  model.expect_to_be(*SharedCatalog(backend, seed + kProcesses)->snapshot());
}

}  // namespace
}  // namespace stator
