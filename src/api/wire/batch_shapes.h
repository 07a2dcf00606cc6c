// SPDX-License-Identifier: Apache-2.0
// Batches by table: the contents of requests, and the unprocessed parts in responses.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json/json_reader.h"
#include "stator/requests.h"

namespace stator::wire {

std::map<std::string, KeysAndAttributes, std::less<>> read_keys_by_table(Reader& reader, Json json);
std::map<std::string, std::vector<WriteRequest>, std::less<>> read_requests_by_table(Reader& reader,
                                                                                     Json json);

template <auto member, class T>
void set_keys_by_table(Reader& reader, Json json, T& out) {
  out.*member = read_keys_by_table(reader, json);
}
template <auto member, class T>
void set_requests_by_table(Reader& reader, Json json, T& out) {
  out.*member = read_requests_by_table(reader, json);
}

}  // namespace stator::wire
