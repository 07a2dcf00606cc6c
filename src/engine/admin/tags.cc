// SPDX-License-Identifier: Apache-2.0
// TagResource, UntagResource, ListTagsOfResource. Tags from CreateTable are in the table's
// definition. The first change copies them to its settings, which take precedence from then on.
#include <algorithm>

#include "base/ascii.h"
#include "engine/admin/support.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"

namespace stator::admin {
namespace {

constexpr std::size_t kTagsMax = 50;

// Only tables have tags; indexes and streams do not.
Result<TablePtr> tagged_table(const JobEngine& engine, const std::string& arn) {
  STATOR_ASSIGN_OR_RETURN(const ArnParts parts, parse_table_arn(engine, arn));
  if (parts.rest.starts_with("/index/")) {
    return fail(Code::kValidation, messages::index_arn(arn));
  }
  if (!parts.rest.empty()) return fail(Code::kValidation, messages::invalid_table_arn(arn));
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  const TablePtr* table = snapshot->find(parts.table);
  if (table == nullptr) return fail(Code::kResourceNotFound, messages::arn_not_found(arn));
  return *table;
}

List tags_of(const Table& table, const Item& settings) {
  if (settings.contains("Tags")) return list_of(settings, "Tags");
  List tags;
  for (const Tag& tag : table.definition().settings.tags) {
    tags.emplace_back(Item{{"Key", tag.key}, {"Value", tag.value}});
  }
  return tags;
}

bool is_tag_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return is_ascii_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view(" +-=._:/@").find(c) != std::string_view::npos;
  });
}

Result<void> check_tags(const List& tags) {
  if (tags.empty()) return fail(Code::kValidation, messages::kNoTags);
  std::vector<std::string> keys;
  for (const AttributeValue& tag : tags) {
    if (!as_map(tag).contains("Key")) {
      return fail(Code::kValidation, messages::invalid_tag_key("null"));
    }
    if (!as_map(tag).contains("Value")) {
      return fail(Code::kValidation, messages::invalid_tag_value("null"));
    }
    keys.push_back(text_of(as_map(tag), "Key"));
    const std::string value = text_of(as_map(tag), "Value");
    if (!is_tag_text(keys.back())) {
      return fail(Code::kValidation, messages::invalid_tag_key(keys.back()));
    }
    if (!is_tag_text(value)) return fail(Code::kValidation, messages::invalid_tag_value(value));
    if (keys.back().starts_with("aws:")) {
      return fail(Code::kValidation, messages::reserved_tag(keys.back()));
    }
  }
  std::ranges::sort(keys);
  const auto repeated = std::ranges::adjacent_find(keys);
  if (repeated != keys.end()) {
    return fail(Code::kValidation, messages::duplicate_tag(*repeated));
  }
  return {};
}

Result<Item> tag_resource(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "ResourceArn");
  const List& given = list_of(request, "Tags");
  STATOR_ASSIGN_OR_RETURN(const TablePtr table, tagged_table(engine, arn));
  STATOR_RETURN_IF_ERROR(check_tags(given));
  STATOR_RETURN_IF_ERROR(change_settings(engine, *table, [&](Item& settings) -> Result<void> {
    List tags = tags_of(*table, settings);
    for (const AttributeValue& tag : given) {
      const auto same = std::ranges::find_if(tags, [&](const AttributeValue& there) {
        return text_of(as_map(there), "Key") == text_of(as_map(tag), "Key");
      });
      if (same == tags.end()) {
        tags.push_back(tag);
      } else {
        *same = tag;
      }
    }
    if (tags.size() > kTagsMax) return fail(Code::kValidation, messages::kTooManyTags);
    settings["Tags"] = std::move(tags);
    return {};
  }));
  return Item();
}

Result<Item> untag_resource(JobEngine& engine, const Item& request) {
  const List& keys = list_of(request, "TagKeys");
  STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                          tagged_table(engine, text_of(request, "ResourceArn")));
  if (keys.empty()) return fail(Code::kValidation, messages::kNoTagKeys);
  STATOR_RETURN_IF_ERROR(change_settings(engine, *table, [&](Item& settings) -> Result<void> {
    List tags = tags_of(*table, settings);
    std::erase_if(tags, [&](const AttributeValue& tag) {
      return std::ranges::any_of(keys, [&](const AttributeValue& key) {
        return as_text(key) == text_of(as_map(tag), "Key");
      });
    });
    settings["Tags"] = std::move(tags);
    return {};
  }));
  return Item();
}

Result<Item> list_tags_of_resource(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "ResourceArn");
  STATOR_ASSIGN_OR_RETURN(const TablePtr table, tagged_table(engine, arn));
  // All tags fit in one page, so no valid token exists.
  if (request.contains("NextToken")) return fail(Code::kValidation, messages::kInvalidNextToken);
  STATOR_ASSIGN_OR_RETURN(const Item settings, settings_of(engine, *table));
  return Item{{"Tags", tags_of(*table, settings)}};
}

}  // namespace

const Operation kTagResource{shapes::kTagResource, tag_resource, false};
const Operation kUntagResource{shapes::kUntagResource, untag_resource, false};
const Operation kListTagsOfResource{shapes::kListTagsOfResource, list_tags_of_resource};

}  // namespace stator::admin
