// SPDX-License-Identifier: Apache-2.0
// The toggle, compared with its reference implementation: a transaction that updates the latest
// event and adds to the log; if it is cancelled without an item, another one for the first event.
// Responses do not report the cost of a cancelled transaction.
#include <string>

#include "bench/contests.h"
#include "bench/recipe_cost.h"
#include "stator/database.h"
#include "stator/recipes/toggle.h"

namespace stator::bench {
namespace {

constexpr int kTimes = 2'000;
constexpr const char* kArticleTable = "ToggleStateTable";

struct Event {
  std::string id;
  std::string created_at;
  bool state = false;
};

Item article_item(const Event& event, const std::string& sk) {
  return {{"pk", event.id}, {"sk", sk}, {"created_at", event.created_at}, {"state", event.state}};
}

TransactWriteItem article_put(Item item) {
  return {.action = TransactAction::kPut, .table = kArticleTable, .item = std::move(item)};
}

Result<void> article_save(Client& client, const Event& event) {
  const Item log = article_item(event, "SWITCH#" + event.created_at);
  const TransactWriteItem update{
      .action = TransactAction::kUpdate,
      .table = kArticleTable,
      .item = {{"pk", event.id}, {"sk", "LATEST_SWITCH"}},
      .update = "SET created_at = :at, #state = :state",
      .condition = "created_at < :at",
      .names = Names{{"#state", "state"}},
      .values = Values{{":at", event.created_at}, {":state", event.state}},
      .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  const auto saved = client.transact_write_items({.items = {update, article_put(log)}});
  if (saved) return {};
  if (saved.error().code != Code::kTransactionCanceled) return Failure(saved.error());
  if (saved.error().detail->reasons.at(0).item) return {};  // a late event
  TransactWriteItem first = article_put(article_item(event, "LATEST_SWITCH"));
  first.condition = "NOT (pk = :pk AND sk = :sk)";
  first.values = Values{{":pk", event.id}, {":sk", "LATEST_SWITCH"}};
  STATOR_RETURN_IF_ERROR(client.transact_write_items({.items = {first, article_put(log)}}));
  return {};
}

Result<void> article_latest(Client& client) {
  STATOR_RETURN_IF_ERROR(client.get_item(
      {.table = kArticleTable, .key = {{"pk", "toggle0"}, {"sk", "LATEST_SWITCH"}}}));
  return {};
}

std::string id_of(int i) {
  return "toggle" + std::to_string(i);
}

Result<void> compare(examples::CountingClient& client, const char* name,
                     const Toggle<bool>& toggle) {
  const Time start = Time::now() - std::chrono::hours(24);
  const auto save = [&](const std::string& id, std::chrono::seconds at) -> Result<void> {
    STATOR_RETURN_IF_ERROR(toggle.save({id}, true, start + at));
    return {};
  };
  using std::chrono::seconds;
  STATOR_RETURN_IF_ERROR(measure_steps((std::string(name) + ", first save").c_str(), client, kTimes,
                                       [&](int i) { return save(id_of(i), seconds(0)); }));
  STATOR_RETURN_IF_ERROR(measure_steps((std::string(name) + ", later save").c_str(), client, kTimes,
                                       [&](int i) { return save("one", seconds(i)); }));
  return measure_steps((std::string(name) + ", latest").c_str(), client, kTimes,
                       [&](int) -> Result<void> {
                         STATOR_RETURN_IF_ERROR(toggle.latest({"one"}));
                         return {};
                       });
}

}  // namespace

Result<void> toggle_recipe() {
  STATOR_ASSIGN_OR_RETURN(Database database, Database::open({}));
  examples::CountingClient client(database);
  ToggleOptions log{.table = "Toggles", .answer = Answer::kStored};
  const ToggleOptions gated{.table = "Gated", .mode = ToggleMode::kGated};
  RecipeTable article = AnyToggle::table_definition(log);
  article.table = kArticleTable;
  for (const RecipeTable& table :
       {article, AnyToggle::table_definition(log), AnyToggle::table_definition(gated)}) {
    STATOR_RETURN_IF_ERROR(create_table_if_missing(database, table));
  }
  const auto event = [](const std::string& id, int second) {
    const Time start = Time::now() - std::chrono::hours(24);
    return Event{id, (start + std::chrono::seconds(second)).text(), true};
  };
  std::printf("toggle: saves and questions, in process, in memory\n");
  STATOR_RETURN_IF_ERROR(measure_steps("reference, first save", client, kTimes, [&](int i) {
    return article_save(client, event(id_of(i), 0));
  }));
  STATOR_RETURN_IF_ERROR(measure_steps("reference, later save", client, kTimes, [&](int i) {
    return article_save(client, event("one", i));
  }));
  STATOR_RETURN_IF_ERROR(measure_steps("reference, latest", client, kTimes,
                                       [&](int) { return article_latest(client); }));
  STATOR_RETURN_IF_ERROR(compare(client, "Toggle", Toggle<bool>(client, log)));
  return compare(client, "Toggle, gated", Toggle<bool>(client, gated));
}

}  // namespace stator::bench
