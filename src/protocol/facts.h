// SPDX-License-Identifier: Apache-2.0
// Facts about requests and responses for metrics and logs: the table and the index of a request,
// and the items in a response.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

#include "api/model/responses.h"

namespace stator::protocol {

inline constexpr std::string_view kSeveralTables = "*";

// The table that a request names, as the client wrote it (any text, or an ARN); kSeveralTables if
// there are several; empty if there is none, or if only a statement names it. It is valid as long
// as the request.
template <class Request>
std::string_view table_in(const Request& request) {
  if constexpr (requires { std::string_view(request.table); }) {
    return request.table;
  } else if constexpr (requires { std::string_view(request.items.begin()->first); }) {
    if (request.items.empty()) return {};
    return request.items.size() == 1 ? std::string_view(request.items.begin()->first)
                                     : kSeveralTables;
  } else if constexpr (requires { std::string_view(request.items.front().table); }) {
    if (request.items.empty()) return {};
    const std::string_view first = request.items.front().table;
    const bool same =
        std::ranges::all_of(request.items, [&](const auto& item) { return item.table == first; });
    return same ? first : kSeveralTables;
  } else {
    return {};
  }
}
// The table of an administrative request.
inline std::string_view table_in(const Item& request) {
  const auto found = request.find("TableName");
  const auto* name = found == request.end() ? nullptr : found->second.get_if<std::string>();
  return name == nullptr ? std::string_view() : std::string_view(*name);
}

// The keys, items and actions of a BatchGetItem, BatchWriteItem, TransactGetItems or
// TransactWriteItems; absent for other requests.
template <class Request>
std::optional<std::size_t> batch_size_in(const Request& request) {
  if constexpr (std::is_same_v<Request, BatchGetItemRequest>) {
    std::size_t size = 0;
    for (const auto& [table, wanted] : request.items) size += wanted.keys.size();
    return size;
  } else if constexpr (std::is_same_v<Request, BatchWriteItemRequest>) {
    std::size_t size = 0;
    for (const auto& [table, writes] : request.items) size += writes.size();
    return size;
  } else if constexpr (std::is_same_v<Request, TransactGetItemsRequest> ||
                       std::is_same_v<Request, TransactWriteItemsRequest>) {
    return request.items.size();
  } else {
    return std::nullopt;
  }
}

// The index that a Query or Scan reads, as the client wrote it; empty if there is none. It is valid
// as long as the request.
template <class Request>
std::string_view index_in(const Request& request) {
  if constexpr (requires { std::string_view(request.index); }) {
    return request.index;
  } else if constexpr (requires { std::string_view(*request.index); }) {
    return request.index ? std::string_view(*request.index) : std::string_view();
  } else {
    return {};
  }
}

// The response header with the number of items that a read by ExecuteStatement examined. The API
// has no member for it.
inline constexpr std::string_view kExaminedHeader = "x-stator-examined";
// The path of a server's test mode, to read and replace its rules.
inline constexpr std::string_view kTestModePath = "/_stator/test-mode";

// The number of items that a Query, Scan or ExecuteStatement examined.
template <class Response>
std::size_t examined_in(const Response& response) {
  if constexpr (requires { response.scanned_count; }) {
    return static_cast<std::size_t>(response.scanned_count);
  } else if constexpr (requires { response.examined; }) {
    return static_cast<std::size_t>(response.examined.value_or(0));
  } else {
    return 0;
  }
}

// The number of items, or records of a stream, in a response.
template <class Response>
std::size_t items_in(const Response& response) {
  if constexpr (requires { response.records.size(); }) {
    return response.records.size();
  } else if constexpr (requires { response.item.has_value(); }) {
    return response.item.has_value() ? 1 : 0;
  } else if constexpr (requires { response.items.begin()->second.size(); }) {
    std::size_t count = 0;
    for (const auto& [table, items] : response.items) count += items.size();
    return count;
  } else if constexpr (requires { response.items.begin()->has_value(); }) {
    return static_cast<std::size_t>(
        std::ranges::count_if(response.items, [](const auto& item) { return item.has_value(); }));
  } else if constexpr (requires { response.responses.begin()->item.has_value(); }) {
    return static_cast<std::size_t>(std::ranges::count_if(
        response.responses, [](const auto& one) { return one.item.has_value(); }));
  } else if constexpr (requires { response.items.size(); }) {
    return response.items.size();
  } else {
    return 0;
  }
}

}  // namespace stator::protocol
