// SPDX-License-Identifier: Apache-2.0
// Text: metrics in Prometheus's text format, version 0.0.4.
//
// Start a family with its name, type and help, then add its samples. Names and help must need no
// escaping; label values can be any bytes and are escaped.
// Thread safety: none.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "metrics/counters.h"

namespace stator::metrics {

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

using Label = std::pair<std::string_view, std::string_view>;
using Labels = std::initializer_list<Label>;

class Text {
 public:
  void counter(std::string_view name, std::string_view help) { begin(name, "counter", help); }
  void gauge(std::string_view name, std::string_view help) { begin(name, "gauge", help); }
  void histogram(std::string_view name, std::string_view help) { begin(name, "histogram", help); }

  // A sample of the family.
  void sample(Labels labels, uint64_t value);
  void sample(Labels labels, double value);

  // A family with one sample and no labels.
  template <class T>
  void counter(std::string_view name, std::string_view help, T value) {
    counter(name, help);
    sample({}, value);
  }
  template <class T>
  void gauge(std::string_view name, std::string_view help, T value) {
    gauge(name, help);
    sample({}, value);
  }

  // A histogram that Buckets has filled. Bounds and the sum are divided by `scale`.
  template <std::size_t kBounds>
  void sample(Labels labels, const Buckets<kBounds>& buckets, const Counters& counters,
              std::size_t first, double scale) {
    write_histogram(labels, buckets.bounds(), counters, first, scale);
  }

  std::string finish() && { return std::move(text_); }

 private:
  void begin(std::string_view name, std::string_view type, std::string_view help);
  void write_histogram(Labels labels, std::span<const uint64_t> bounds, const Counters& counters,
                       std::size_t first, double scale);
  void write(std::string_view suffix, Labels labels, std::string_view bound,
             std::string_view value);

  std::string name_;  // of the family
  std::string text_;
};

}  // namespace stator::metrics
