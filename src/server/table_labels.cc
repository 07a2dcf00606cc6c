// SPDX-License-Identifier: Apache-2.0
#include "server/table_labels.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "api/model/table_name.h"

namespace stator::server {
namespace {

std::string_view name_in(std::string_view table) {
  const std::string_view name = table_name_in(table);
  return name.substr(0, name.find('/'));
}

}  // namespace

TableLabels::TableLabels(std::size_t max)
    : places_(std::bit_ceil(2 * std::max<std::size_t>(1, max))), names_(max) {}

std::size_t TableLabels::place_of(std::string_view name) const {
  const std::size_t mask = places_.size() - 1;
  std::size_t place = std::hash<std::string_view>{}(name)&mask;
  while (true) {
    const uint32_t number = places_[place].load(std::memory_order_acquire);
    if (number == 0 || names_[number - 1] == name) return place;
    place = (place + 1) & mask;
  }
}

std::size_t TableLabels::find(std::string_view table) const {
  const uint32_t number = places_[place_of(name_in(table))].load(std::memory_order_acquire);
  return number == 0 ? kNone : number - 1;
}

std::size_t TableLabels::find_or_add(std::string_view table) {
  const std::size_t found = find(table);
  if (found != kNone || size() == max()) return found;
  const std::string_view name = name_in(table);
  const std::lock_guard lock(adding_);
  const std::size_t place = place_of(name);
  const uint32_t number = places_[place].load(std::memory_order_relaxed);
  if (number != 0) return number - 1;
  const std::size_t next = size_.load(std::memory_order_relaxed);
  if (next == max()) return kNone;
  names_[next] = name;
  places_[place].store(static_cast<uint32_t>(next + 1), std::memory_order_release);
  size_.store(next + 1, std::memory_order_release);
  return next;
}

}  // namespace stator::server
