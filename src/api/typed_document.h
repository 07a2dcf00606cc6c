// SPDX-License-Identifier: Apache-2.0
// Documents (api/admin/document.h) as typed requests, and typed results as documents. An
// administrative request can contain a request of another operation, such as the parameters of the
// table that an import creates.
#pragma once

#include "api/admin/admin_shapes.h"
#include "api/admin/document.h"
#include "api/wire/wire.h"

namespace stator::wire {

// Errors: those of read_request().
template <class Request>
Result<Request> request_in(const Item& document) {
  return read_request<Request>(document_to_json(document));
}

template <class T>
Result<Item> document_of(const T& result) {
  return read_document(to_json(result), shapes::kAny);
}

}  // namespace stator::wire
