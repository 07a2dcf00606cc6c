// SPDX-License-Identifier: Apache-2.0
// Operands are read from the old image; then its decoded form is changed. List elements are removed
// last, in descending order, so that indexes stay valid.
#include <algorithm>
#include <utility>

#include "expression/binder.h"
#include "expression/expression.h"
#include "expression/messages.h"
#include "expression/parser.h"
#include "expression/paths.h"

namespace stator {
namespace {

using expression::Operand;
using expression::OperandKind;
using expression::Path;
using expression::PathName;
using expression::PathStep;
using expression::UpdateAction;
namespace message = expression::message;

Failure wrong_type(bool legacy = false) {
  return fail(Code::kValidation, legacy ? message::kLegacyUpdateType : message::kUpdateOperand);
}
Failure wrong_path() {
  return fail(Code::kValidation, message::kInvalidUpdatePath);
}

// Limit of the bytes that SET and ADD copy: twice the maximum item size. All copies stay in the
// item, so a larger item cannot be stored. The limit keeps a short expression from copying a large
// attribute many times.
constexpr std::size_t kCopiedBytesMax = std::size_t{2} * 400 * 1024;

// The old image, and the number of bytes that were copied from it and from literals.
class Source {
 public:
  Source(ItemView item, bool legacy) : item_(item), legacy_(legacy) {}

  bool legacy() const { return legacy_; }

  std::optional<ValueView> find(const Path& path) const { return expression::find(item_, path); }

  Result<void> charge(ValueView value) {
    copied_bytes_ += value_size_bytes(value);
    if (copied_bytes_ <= kCopiedBytesMax) return {};
    return fail(Code::kValidation, message::kUpdateTooLarge);
  }
  Result<AttributeValue> copy(ValueView value) {
    STATOR_RETURN_IF_ERROR(charge(value));
    return decode_value(value);
  }

 private:
  ItemView item_;
  bool legacy_;
  std::size_t copied_bytes_ = 0;
};

Result<AttributeValue> evaluate(const Operand& operand, Source& source);

Result<AttributeValue> arithmetic(const Operand& operand, Source& source) {
  STATOR_ASSIGN_OR_RETURN(const AttributeValue left, evaluate(operand.operands[0], source));
  STATOR_ASSIGN_OR_RETURN(const AttributeValue right, evaluate(operand.operands[1], source));
  const auto* a = left.get_if<Number>();
  const auto* b = right.get_if<Number>();
  if (a == nullptr || b == nullptr) return wrong_type();
  STATOR_ASSIGN_OR_RETURN(Number sum,
                          operand.kind == OperandKind::kPlus ? a->plus(*b) : a->minus(*b));
  return AttributeValue(sum);
}

Result<AttributeValue> list_append(const Operand& operand, Source& source) {
  STATOR_ASSIGN_OR_RETURN(AttributeValue left, evaluate(operand.operands[0], source));
  STATOR_ASSIGN_OR_RETURN(AttributeValue right, evaluate(operand.operands[1], source));
  auto* a = left.get_if<List>();
  auto* b = right.get_if<List>();
  if (a == nullptr || b == nullptr) return wrong_type(source.legacy());
  a->insert(a->end(), std::make_move_iterator(b->begin()), std::make_move_iterator(b->end()));
  return left;
}

Result<AttributeValue> evaluate(const Operand& operand, Source& source) {
  switch (operand.kind) {
    case OperandKind::kValue:
      return source.copy(ValueView(operand.encoded));
    case OperandKind::kPath: {
      const auto found = source.find(operand.path);
      if (!found) return fail(Code::kValidation, message::kNoSuchAttribute);
      return source.copy(*found);
    }
    case OperandKind::kIfNotExists: {
      const auto found = source.find(operand.operands[0].path);
      return found ? source.copy(*found) : evaluate(operand.operands[1], source);
    }
    case OperandKind::kListAppend:
      return list_append(operand, source);
    default:
      return arithmetic(operand, source);
  }
}

// The last step of a path: a name in the item or in a map, or an index in a list.
struct Place {
  Map* map = nullptr;
  List* list = nullptr;
  const PathStep* step = nullptr;

  const std::string& name() const { return std::get<PathName>(*step).text; }
  std::size_t index() const { return std::get<uint32_t>(*step); }

  AttributeValue* value() const {
    if (list != nullptr) return index() < list->size() ? &(*list)[index()] : nullptr;
    const auto found = map->find(name());
    return found == map->end() ? nullptr : &found->second;
  }
  void set(AttributeValue value) const {
    if (AttributeValue* there = this->value()) {
      *there = std::move(value);
    } else if (list != nullptr) {
      list->push_back(std::move(value));  // past the end: appended
    } else {
      map->emplace(name(), std::move(value));
    }
  }
  void erase() const {
    if (list == nullptr) {
      if (const auto found = map->find(name()); found != map->end()) map->erase(found);
    } else if (index() < list->size()) {
      list->erase(list->begin() + static_cast<std::ptrdiff_t>(index()));
    }
  }
};

// Errors: kValidation if a name does not follow a map, or an index does not follow a list.
Result<Place> place_of(Item& item, const Path& path) {
  Place place{.map = &item, .step = &path.front()};
  for (std::size_t i = 1; i < path.size(); ++i) {
    AttributeValue* value = place.value();
    if (value == nullptr) return wrong_path();
    place = {.step = &path[i]};
    if (std::holds_alternative<PathName>(path[i])) {
      place.map = value->get_if<Map>();
    } else {
      place.list = value->get_if<List>();
    }
    if (place.map == nullptr && place.list == nullptr) return wrong_path();
  }
  return place;
}

template <class Set>
AttributeValue united(const Set& a, const Set& b) {
  auto all = a.elements();
  for (const auto& element : b.elements()) {
    if (!a.contains(element)) all.push_back(element);
  }
  return Set(std::move(all));
}

template <class Set>
AttributeValue without(const Set& a, const Set& b) {
  auto rest = a.elements();
  std::erase_if(rest, [&](const auto& element) { return b.contains(element); });
  return Set(std::move(rest));
}

template <class Set>
bool is_empty_set(const AttributeValue& value) {
  const auto* set = value.get_if<Set>();
  return set != nullptr && set->empty();
}

// Calls `combine` with both as sets; false if they are not sets of the same type.
template <class Combine>
bool with_sets(AttributeValue& target, const AttributeValue& operand, Combine combine) {
  const auto as = [&]<class Set>(std::type_identity<Set>) {
    const auto* a = target.get_if<Set>();
    const auto* b = operand.get_if<Set>();
    if (a == nullptr || b == nullptr) return false;
    target = combine(*a, *b);
    return true;
  };
  return as(std::type_identity<StringSet>()) || as(std::type_identity<NumberSet>()) ||
         as(std::type_identity<BinarySet>());
}

Result<void> add(Item& item, const UpdateAction& action, bool legacy) {
  STATOR_ASSIGN_OR_RETURN(const Place place, place_of(item, action.path));
  AttributeValue* target = place.value();
  const AttributeValue& operand = action.operand.value;
  if (target == nullptr) {
    place.set(operand);
    return {};
  }
  if (const auto* number = operand.get_if<Number>()) {
    const auto* old = target->get_if<Number>();
    if (old == nullptr) return wrong_type(legacy);
    STATOR_ASSIGN_OR_RETURN(*target, old->plus(*number));
    return {};
  }
  const auto unite = [](const auto& a, const auto& b) { return united(a, b); };
  if (!with_sets(*target, operand, unite)) return wrong_type(legacy);
  return {};
}

// An emptied set is erased later, with the paths of REMOVE: erasing it now could renumber a list.
Result<void> delete_elements(Item& item, const UpdateAction& action, std::vector<Path>& emptied,
                             bool legacy) {
  STATOR_ASSIGN_OR_RETURN(const Place place, place_of(item, action.path));
  AttributeValue* target = place.value();
  if (target == nullptr) return {};
  const auto subtract = [](const auto& a, const auto& b) { return without(a, b); };
  if (!with_sets(*target, action.operand.value, subtract)) return wrong_type(legacy);
  if (is_empty_set<StringSet>(*target) || is_empty_set<NumberSet>(*target) ||
      is_empty_set<BinarySet>(*target)) {
    emptied.push_back(action.path);
  }
  return {};
}

// Orders list elements by index, so that elements past the end are appended in ascending order and
// elements are removed in descending order.
bool before(const Path& a, const Path& b) {
  return std::ranges::lexicographical_compare(a, b, [](const PathStep& x, const PathStep& y) {
    if (x.index() != y.index()) return x.index() < y.index();
    if (const auto* index = std::get_if<uint32_t>(&x)) return *index < std::get<uint32_t>(y);
    return std::get<PathName>(x).text < std::get<PathName>(y).text;
  });
}

std::vector<const UpdateAction*> sorted(const std::vector<UpdateAction>& actions) {
  std::vector<const UpdateAction*> order;
  order.reserve(actions.size());
  for (const UpdateAction& action : actions) order.push_back(&action);
  std::ranges::sort(order, before, [](const UpdateAction* a) -> const Path& { return a->path; });
  return order;
}

// The type of an operand, if the expression determines it. if_not_exists() has the type of its
// second operand.
std::optional<Update::Assigned> static_type(const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kValue:
      return Update::Assigned{.type = operand.value.type(), .value = &operand.value};
    case OperandKind::kListAppend:
      return Update::Assigned{.type = AttributeType::kL};
    case OperandKind::kPlus:
    case OperandKind::kMinus:
      return Update::Assigned{.type = AttributeType::kN};
    case OperandKind::kIfNotExists:
      return static_type(operand.operands[1]);
    default:
      return std::nullopt;
  }
}

}  // namespace

struct Update::Impl {
  Impl(expression::UpdateTree update, bool is_legacy) : tree(std::move(update)), legacy(is_legacy) {
    std::vector<Path> written;
    for (const auto* actions : {&tree.sets, &tree.removes, &tree.adds, &tree.deletes}) {
      for (const UpdateAction& action : *actions) {
        written.push_back(action.path);
        names.insert(expression::top_level_name(action.path));
      }
    }
    paths = expression::PathTree::of(written);
  }

  expression::UpdateTree tree;
  bool legacy;
  expression::PathTree paths;  // the paths written
  std::set<std::string, std::less<>> names;
};

Update::Update(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Update::Update(Update&&) noexcept = default;
Update& Update::operator=(Update&&) noexcept = default;
Update::~Update() = default;

Result<Update> Update::parse(std::string_view text, Placeholders& placeholders,
                             ExpressionLimits limits) {
  auto tree = expression::parse_update(text, limits);
  if (!tree) return expression::invalid("UpdateExpression", tree.error());
  if (auto bound = expression::bind(*tree, placeholders); !bound) {
    return expression::invalid("UpdateExpression", bound.error());
  }
  return Update(std::make_unique<Impl>(std::move(*tree), limits == ExpressionLimits::kLifted));
}

Update Update::of(expression::UpdateTree tree) {
  return Update(std::make_unique<Impl>(std::move(tree), false));
}

Result<std::optional<EncodedItem>> Update::apply(const std::optional<ItemView>& old,
                                                 const Item& key) const {
  if (!old && impl_->tree.sets.empty() && impl_->tree.adds.empty())
    return std::optional<EncodedItem>();
  const EncodedItem fresh = old ? EncodedItem() : encode_item(key);
  const ItemView before_image = old ? *old : ItemView(fresh);
  Item item = decode_item(before_image);

  const auto sets = sorted(impl_->tree.sets);
  std::vector<AttributeValue> values;
  Source source(before_image, impl_->legacy);
  for (const UpdateAction* set : sets) {
    STATOR_ASSIGN_OR_RETURN(AttributeValue value, evaluate(set->operand, source));
    values.push_back(std::move(value));
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    STATOR_ASSIGN_OR_RETURN(const Place place, place_of(item, sets[i]->path));
    place.set(std::move(values[i]));
  }
  for (const UpdateAction* action : sorted(impl_->tree.adds)) {
    STATOR_RETURN_IF_ERROR(source.charge(ValueView(action->operand.encoded)));
    STATOR_RETURN_IF_ERROR(add(item, *action, impl_->legacy));
  }
  std::vector<Path> gone;
  for (const UpdateAction& action : impl_->tree.deletes) {
    STATOR_RETURN_IF_ERROR(delete_elements(item, action, gone, impl_->legacy));
  }
  for (const UpdateAction& action : impl_->tree.removes) gone.push_back(action.path);
  std::ranges::sort(gone, [](const Path& a, const Path& b) { return before(b, a); });
  for (const Path& path : gone) {
    STATOR_ASSIGN_OR_RETURN(const Place place, place_of(item, path));
    place.erase();
  }
  return std::optional(encode_item(item));
}

EncodedItem Update::updated_part(ItemView item) const {
  return impl_->paths.project(item);
}

std::set<std::string, std::less<>> Update::attributes() const {
  return impl_->names;
}

std::optional<Update::Assigned> Update::assigned(std::string_view attribute) const {
  for (const auto* actions : {&impl_->tree.sets, &impl_->tree.adds}) {
    for (const UpdateAction& action : *actions) {
      if (action.path.size() == 1 && expression::top_level_name(action.path) == attribute) {
        return static_type(action.operand);
      }
    }
  }
  return std::nullopt;
}

std::vector<std::string> Update::opened_attributes() const {
  std::vector<std::string> names;
  const expression::UpdateTree& tree = impl_->tree;
  for (const auto* actions : {&tree.sets, &tree.removes, &tree.adds, &tree.deletes}) {
    for (const UpdateAction& action : *actions) {
      expression::gather_opened(action.path, names);
      expression::gather_opened(action.operand, names);
    }
  }
  return names;
}

}  // namespace stator
