// SPDX-License-Identifier: Apache-2.0
// Authorizes requests before the engine sees them.
//
// Thread safety: any thread. Lifetime: an Access must outlive only the call.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "access/gather.h"
#include "access/needs.h"
#include "api/validation/validate.h"
#include "engine/catalog/resource_policies.h"
#include "engine/engine.h"
#include "policy/evaluate.h"

namespace stator::access {

// A caller and its rights.
struct Access {
  policy::Caller caller;  // its account and region are the engine's
  PolicyPtr policy;       // null: all rights that no resource policy denies
  // Called with each decision, on the authorizing thread, with no locks held; can be empty.
  std::function<void(const policy::Context& context, const policy::Verdict& verdict)> decided;
};

// Whether resource policies can affect a caller with all rights.
bool has_resource_policies(Engine& engine);

// A user of the engine's account, without the members that depend on the request.
policy::Caller caller_of(Engine& engine, std::string_view username);

// Errors: kAccessDenied for the first denied need. The needs must be complete.
Result<void> decide(const Access& access, const Needs& needs);

// Authorizes an action without a resource of the engine, such as "cloudwatch:GetMetricData".
Result<void> authorize_action(const Access& access, std::string_view action);

// The condition keys that can affect the caller's requests.
policy::KeySet wanted_keys(const Access& access, const AccessView& view);

// The engine of a request, and whether authorization can wait for a store that processes share.
struct Place {
  Engine& engine;
  bool may_wait = false;
};
inline constexpr Code kMustWait = Code::kConflict;

// Errors: kAccessDenied; kValidation for a request, an expression or a statement that the engine
// rejects too; kMustWait if it may not wait and would have to. `gathers` collects the needs.
template <class Gather>
Result<void> authorize_with(const Access& access, Place place, Gather gathers) {
  const AccessView view(place.engine, place.may_wait);
  policy::KeySet wanted = wanted_keys(access, view);
  for (;;) {
    Needs needs(view, access.caller, wanted);
    Result<void> gathered = gathers(needs);
    if (!needs.complete()) {
      wanted.set();
      continue;
    }
    if (view.lacks_something()) return fail(kMustWait, "only the store knows");
    // A denial has precedence, because it reveals less.
    STATOR_RETURN_IF_ERROR(decide(access, needs));
    return gathered;
  }
}

template <class Request>
Result<void> authorize(const Access& access, Place place, const Request& request) {
  // Its errors depend only on the request. The values checked afterwards are within the API's
  // limits.
  STATOR_RETURN_IF_ERROR(validate(request));
  return authorize_with(access, place, [&](Needs& needs) { return gather(needs, request); });
}
// Authorizes an administrative operation. Errors: kValidation also for a resource policy that would
// prevent the caller from changing it, unless the request confirms that.
Result<void> authorize(const Access& access, Place place, std::string_view operation,
                       const Item& request);

}  // namespace stator::access
