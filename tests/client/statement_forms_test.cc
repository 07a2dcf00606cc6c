// SPDX-License-Identifier: Apache-2.0
// The same random conditions and updates as PartiQL and as expressions. Both find the same items,
// have the same errors, and produce the same items.
#include <algorithm>
#include <random>

#include "client/client_test.h"
#include "support/from_environment.h"

namespace stator::test {
namespace {

constexpr int kItems = 12;
constexpr int kRounds = 250;

// The same condition or update in both languages. The values have the order of the question marks.
struct Forms {
  std::string statement;
  std::string expression;

  Forms& operator+=(const Forms& more) {
    statement += more.statement;
    expression += more.expression;
    return *this;
  }
};

class Drawn {
 public:
  explicit Drawn(uint64_t seed) : random_(seed) {}

  int pick(int choices) { return static_cast<int>(random_() % static_cast<uint64_t>(choices)); }
  template <class T>
  T one_of(std::vector<T> choices) {
    return choices[static_cast<std::size_t>(pick(static_cast<int>(choices.size())))];
  }

  AttributeValue value(int kinds = 9) {
    switch (pick(kinds)) {
      case 0:
      case 1:
        return pick(5) - 1;
      case 2:
      case 3:
        return one_of<std::string>({"", "a", "ab", "b"});
      case 4:
        return pick(2) == 0;
      case 5:
        return nullptr;
      case 6:
        return StringSet{"a", one_of<std::string>({"ab", "b"})};
      case 7:
        return List{pick(3), "a"};
      default:
        return Map{{"k", pick(3)}};
    }
  }

  Item item() {
    Item item;
    for (const char* name : {"a1", "b1", "n1", "s1", "l1", "m1"}) {
      if (pick(3) > 0) item[name] = value();
    }
    return item;
  }

  Forms condition(int depth) {
    if (depth == 0 || pick(3) == 0) return comparison();
    if (pick(4) == 0) {
      Forms negated = both("NOT (");
      negated += condition(depth - 1);
      return negated += both(")");
    }
    Forms joined = both("(");
    joined += condition(depth - 1);
    joined += both(pick(2) == 0 ? ") AND (" : ") OR (");
    joined += condition(depth - 1);
    return joined += both(")");
  }

  // Uses each path once, because an update must not write one twice.
  Forms update() {
    std::vector<std::string> names = {"a1", "b1", "n1", "s1", "l1"};
    std::ranges::shuffle(names, random_);
    Forms set;
    const int actions = 1 + pick(2);
    for (int i = 0; i < actions; ++i) {
      set += i == 0 ? both("SET ") : Forms{" SET ", ", "};
      set += assignment(names[static_cast<std::size_t>(i)]);
    }
    if (pick(3) == 0) set += both(" REMOVE " + names[3]);
    if (pick(4) == 0) {
      const std::string& name = names[4];
      const bool adds = pick(2) == 0;
      const Forms operand = parameter(StringSet{one_of<std::string>({"a", "ab", "b"})});
      set.statement += " SET " + name + " = " + (adds ? "set_add(" : "set_delete(") + name + ", " +
                       operand.statement + ")";
      set.expression += (adds ? " ADD " : " DELETE ") + name + " " + operand.expression;
    }
    return set;
  }

  std::vector<AttributeValue> parameters;
  Values values;

 private:
  static Forms both(const std::string& text) { return {text, text}; }

  Forms parameter(AttributeValue value) {
    const std::string placeholder = ":v" + std::to_string(parameters.size());
    parameters.push_back(value);
    values[placeholder] = std::move(value);
    return {"?", placeholder};
  }

  std::string path() {
    return one_of<std::string>({"a1", "b1", "n1", "s1", "l1", "m1", "l1[0]", "l1[1]", "m1.k"});
  }

  Forms comparison() {
    const std::string at = path();
    switch (pick(8)) {
      case 0:
        if (pick(2) == 0) return {at + " IS MISSING", "attribute_not_exists(" + at + ")"};
        return {at + " IS NOT MISSING", "attribute_exists(" + at + ")"};
      case 1:
        return call("begins_with", at, one_of<std::string>({"", "a", "ab"}));
      case 2:
        return call("contains", at, value(4));
      case 3:
        return call("attribute_type", at, one_of<std::string>({"S", "N", "SS", "L", "M", "NULL"}));
      case 4:
        return between(at);
      case 5:
        return among(at);
      case 6: {
        Forms size = both("size(" + at + ") " + one_of<std::string>({"=", "<", ">="}) + " ");
        return size += parameter(pick(3));
      }
      default: {
        Forms compared =
            both(at + " " + one_of<std::string>({"=", "<>", "<", "<=", ">", ">="}) + " ");
        return compared += pick(5) == 0 ? both(path()) : parameter(value());
      }
    }
  }

  Forms call(const std::string& function, const std::string& at, AttributeValue operand) {
    Forms called = both(function + "(" + at + ", ");
    called += parameter(std::move(operand));
    return called += both(")");
  }

  Forms between(const std::string& at) {
    Forms range = both(at + " BETWEEN ");
    const int lower = pick(3);
    range += parameter(lower);
    range += both(" AND ");
    return range += parameter(lower + pick(3));
  }

  Forms among(const std::string& at) {
    Forms found{at + " IN [", at + " IN ("};
    const int count = 1 + pick(3);
    for (int i = 0; i < count; ++i) {
      if (i > 0) found += both(", ");
      found += parameter(value());
    }
    return found += {"]", ")"};
  }

  Forms assignment(const std::string& name) {
    Forms assigned = both(name + " = ");
    switch (pick(4)) {
      case 0:
        assigned += both(path() + (pick(2) == 0 ? " + " : " - "));
        return assigned += parameter(value(3));
      case 1:
        assigned += both("list_append(" + path() + ", ");
        assigned += parameter(List{pick(3)});
        return assigned += both(")");
      case 2:
        return assigned += both(path());
      default:
        return assigned += parameter(value());
    }
  }

  std::mt19937_64 random_;
};

class StatementForms : public ClientTest {
 protected:
  StatementForms() {
    create(hash_table("Said"));
    create(hash_table("Expressed"));
    for (int i = 0; i < kItems; ++i) {
      Item item = drawn_.item();
      item["pk"] = std::to_string(i);
      put("Said", item);
      put("Expressed", item);
    }
  }

  void begin() {
    drawn_.parameters.clear();
    drawn_.values.clear();
  }
  std::optional<std::vector<AttributeValue>> parameters() const {
    if (drawn_.parameters.empty()) return std::nullopt;
    return drawn_.parameters;
  }
  std::optional<Values> values() const {
    if (drawn_.values.empty()) return std::nullopt;
    return drawn_.values;
  }

  static std::map<std::string, Item> by_key(const std::vector<Item>& items) {
    std::map<std::string, Item> found;
    for (const Item& item : items) found[*item.at("pk").get_if<std::string>()] = item;
    return found;
  }

  const uint64_t seed_ = number_from_environment("STATOR_SEED", std::random_device{}());
  Drawn drawn_{seed_};
};
STATOR_IN_EACH_HOME(StatementForms);

TEST_P(StatementForms, OfAConditionFindTheSameItems) {
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
  int found = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    begin();
    const Forms where = drawn_.condition(2);
    const auto said = client_.execute_statement(
        {.statement = "SELECT * FROM Said WHERE " + where.statement, .parameters = parameters()});
    const auto expressed =
        client_.scan({.table = "Expressed", .filter = where.expression, .values = values()});
    ASSERT_EQ(said.has_value(), expressed.has_value())
        << where.statement << "\n"
        << where.expression << "\n"
        << (said ? expressed.error().message : said.error().message);
    if (!said) continue;
    EXPECT_EQ(by_key(said->items), by_key(expressed->items)) << where.statement;
    found += static_cast<int>(said->items.size());
  }
  EXPECT_GT(found, kRounds);
}

TEST_P(StatementForms, OfAnUpdateLeaveTheSameBehind) {
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
  int done = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    begin();
    const std::string key = std::to_string(drawn_.pick(kItems + 2));
    const Forms update = drawn_.update();
    Forms where;
    if (drawn_.pick(2) == 0) where = drawn_.condition(1);
    const std::string statement = "UPDATE Said " + update.statement + " WHERE pk = '" + key + "'" +
                                  (where.statement.empty() ? "" : " AND (" + where.statement + ")");
    const std::string condition =
        "attribute_exists(pk)" +
        (where.expression.empty() ? "" : " AND (" + where.expression + ")");
    const auto said =
        client_.execute_statement({.statement = statement, .parameters = parameters()});
    const auto expressed = client_.update_item({.table = "Expressed",
                                                .key = {{"pk", key}},
                                                .update = update.expression,
                                                .condition = condition,
                                                .values = values()});
    ASSERT_EQ(said.has_value(), expressed.has_value())
        << statement << "\n"
        << update.expression << " | " << condition << "\n"
        << (said ? expressed.error().message : said.error().message);
    if (!said) {
      EXPECT_EQ(said.error().code, expressed.error().code) << statement;
    }
    EXPECT_EQ(get("Said", {{"pk", key}}), get("Expressed", {{"pk", key}})) << statement;
    done += said ? 1 : 0;
  }
  EXPECT_GT(done, kRounds / 20);
}

}  // namespace
}  // namespace stator::test
