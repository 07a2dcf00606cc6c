// SPDX-License-Identifier: Apache-2.0
#include "histories/model.h"

#include <algorithm>

namespace stator::test {
namespace {

const AttributeValue* attribute(const Item* item, const std::string& name) {
  if (item == nullptr) return nullptr;
  const auto found = item->find(name);
  return found == item->end() ? nullptr : &found->second;
}

const Number* number(const Item* item, const std::string& name) {
  const AttributeValue* value = attribute(item, name);
  return value == nullptr ? nullptr : value->get_if<Number>();
}

// ADD of a number: an absent attribute counts as zero, and one of another type is an error.
bool add_number(Item& item, const std::string& name, int value) {
  const AttributeValue* old = attribute(&item, name);
  if (old == nullptr) {
    item[name] = value;
    return true;
  }
  if (!old->is<Number>()) return false;
  item[name] = *old->get_if<Number>()->plus(Number(value));
  return true;
}

bool add_tag(Item& item, const std::string& tag) {
  std::vector<std::string> tags;
  if (const AttributeValue* old = attribute(&item, "tags")) {
    if (!old->is<StringSet>()) return false;
    tags = old->get_if<StringSet>()->elements();
  }
  if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(tag);
  item["tags"] = StringSet(tags);
  return true;
}

bool delete_tag(Item& item, const std::string& tag) {
  const AttributeValue* old = attribute(&item, "tags");
  if (old == nullptr) return true;
  if (!old->is<StringSet>()) return false;
  std::vector<std::string> tags = old->get_if<StringSet>()->elements();
  std::erase(tags, tag);
  if (tags.empty()) {
    item.erase("tags");
  } else {
    item["tags"] = StringSet(tags);
  }
  return true;
}

bool append(Item& item, int value) {
  List list;
  if (const AttributeValue* old = attribute(&item, "entries")) {
    if (!old->is<List>()) return false;
    list = *old->get_if<List>();
  }
  list.emplace_back(value);
  item["entries"] = list;
  return true;
}

bool set_in_map(Item& item, const std::string& text) {
  const auto found = item.find("map");
  if (found == item.end() || !found->second.is<Map>()) return false;
  (*found->second.get_if<Map>())["leaf"] = text;
  return true;
}

bool swap_with_new(Item& item, int value) {
  const AttributeValue* old = attribute(&item, "n");
  if (old == nullptr) return false;
  item["previous"] = *old;
  item["n"] = value;
  return true;
}

}  // namespace

const Item* ModelTable::find(const ModelKey& key) const {
  const auto found = items_.find(key);
  return found == items_.end() ? nullptr : &found->second;
}

std::vector<Item> ModelTable::partition(const std::string& pk, int low, int high,
                                        bool forward) const {
  std::vector<Item> found;
  for (const auto& [key, item] : items_) {
    if (key.first == pk && key.second >= low && key.second <= high) found.push_back(item);
  }
  if (!forward) std::ranges::reverse(found);
  return found;
}

std::vector<Item> ModelTable::all() const {
  std::vector<Item> found;
  for (const auto& [key, item] : items_) found.push_back(item);
  return found;
}

std::vector<Item> ModelTable::group(const std::string& group, int low, int high) const {
  std::vector<Item> found;
  for (const auto& [key, item] : items_) {
    const AttributeValue* name = attribute(&item, "group");
    const Number* n = number(&item, "n");
    if (name == nullptr || n == nullptr || *name != AttributeValue(group)) continue;
    if (*n >= Number(low) && *n <= Number(high)) found.push_back(item);
  }
  std::ranges::stable_sort(found, {}, [](const Item& item) { return *number(&item, "n"); });
  return found;
}

Item key_item(const ModelKey& key) {
  return {{"pk", key.first}, {"sk", key.second}};
}

std::vector<ModelCondition> model_conditions(int value) {
  return {
      {std::nullopt, {}, [](const Item*) { return true; }},
      {"attribute_not_exists(pk)", {}, [](const Item* item) { return item == nullptr; }},
      {"attribute_exists(pk)", {}, [](const Item* item) { return item != nullptr; }},
      {"n < :v",
       {{":v", value}},
       [value](const Item* item) {
         const Number* n = number(item, "n");
         return n != nullptr && *n < Number(value);
       }},
      {"n <> :v",
       {{":v", value}},
       [value](const Item* item) {
         const AttributeValue* n = attribute(item, "n");
         return n == nullptr || *n != AttributeValue(value);
       }},
      {"attribute_not_exists(n) OR (n BETWEEN :low AND :v)",
       {{":low", -10}, {":v", value}},
       [value](const Item* item) {
         if (attribute(item, "n") == nullptr) return true;
         const Number* n = number(item, "n");
         return n != nullptr && *n >= Number(-10) && *n <= Number(value);
       }},
      {"contains(tags, :t) AND NOT size(tags) > :two",
       {{":t", "a"}, {":two", 2}},
       [](const Item* item) {
         const AttributeValue* tags = attribute(item, "tags");
         if (tags == nullptr || !tags->is<StringSet>()) return false;
         const StringSet& set = *tags->get_if<StringSet>();
         return set.contains("a") && set.size() <= 2;
       }},
  };
}

std::vector<ModelUpdate> model_updates(int value, const std::string& text) {
  return {
      {"ADD n :v", {{":v", value}}, [value](Item& item) { return add_number(item, "n", value); }},
      {"SET n = if_not_exists(n, :zero) + :v",
       {{":zero", 0}, {":v", value}},
       [value](Item& item) { return add_number(item, "n", value); }},
      {"SET previous = n, n = :v",
       {{":v", value}},
       [value](Item& item) { return swap_with_new(item, value); }},
      {"SET #g = :g",
       {{":g", text}},
       [text](Item& item) {
         item["group"] = text;
         return true;
       }},
      {"REMOVE #g, n",
       {},
       [](Item& item) {
         item.erase("group");
         item.erase("n");
         return true;
       },
       true},
      {"ADD tags :t",
       {{":t", StringSet{text}}},
       [text](Item& item) { return add_tag(item, text); }},
      {"DELETE tags :t",
       {{":t", StringSet{text}}},
       [text](Item& item) { return delete_tag(item, text); },
       true},
      {"SET entries = list_append(if_not_exists(entries, :none), :one)",
       {{":none", List{}}, {":one", List{value}}},
       [value](Item& item) { return append(item, value); }},
      {"SET #m.leaf = :t", {{":t", text}}, [text](Item& item) { return set_in_map(item, text); }},
      {"SET #m = :m",
       {{":m", Map{{"n", value}}}},
       [value](Item& item) {
         item["map"] = Map{{"n", value}};
         return true;
       }},
  };
}

}  // namespace stator::test
