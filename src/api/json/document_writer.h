// SPDX-License-Identifier: Apache-2.0
// DocumentWriter: builds a document (api/admin/document.h) through the calls of a JsonWriter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "stator/value.h"

namespace stator {

// A time in the form of the API's JSON: Unix seconds.
inline AttributeValue seconds(int64_t unix_ms) {
  return Number::parse(std::to_string(unix_ms) + "e-3").value_or(Number());
}

namespace wire {

class DocumentWriter {
 public:
  DocumentWriter& key(std::string_view name) {
    level_.name = name;
    return *this;
  }
  void text(std::string_view value) { add(std::string(value)); }
  void boolean(bool value) { add(value); }
  void integer(int64_t value) { add(value); }
  void seconds(int64_t unix_ms) { add(stator::seconds(unix_ms)); }

  template <class F>
  void object(F write) {
    Level outer = std::exchange(level_, {});
    write();
    Level inner = std::exchange(level_, std::move(outer));
    add(std::move(inner.members));
  }
  template <class Range, class F>
  void array(const Range& elements, F write) {
    Level outer = std::exchange(level_, {});
    for (const auto& element : elements) write(element);
    Level inner = std::exchange(level_, std::move(outer));
    add(std::move(inner.elements));
  }
  template <class Range, class F>
  void objects(const Range& elements, F write) {
    array(elements, [&](const auto& element) { object([&] { write(element); }); });
  }

  Item finish() && { return std::move(level_.members); }

 private:
  // The object or array that is being written.
  struct Level {
    std::string name;  // of the next value; empty in an array
    Item members;
    List elements;
  };

  void add(AttributeValue value) {
    if (level_.name.empty()) {
      level_.elements.push_back(std::move(value));
    } else {
      level_.members.insert_or_assign(std::exchange(level_.name, {}), std::move(value));
    }
  }

  Level level_;
};

}  // namespace wire
}  // namespace stator
