// SPDX-License-Identifier: Apache-2.0
// Whether a caller may do what a request asks for, decided before the engine sees the request.
//
// Thread safety: any thread. Lifetime: an Access must outlive the call only.
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

// Who asks, with which rights.
struct Access {
  policy::Caller caller;  // its account and region are the engine's
  PolicyPtr policy;       // null: all rights that no resource policy denies
  // Told of each decision, on the thread that asks; may be empty.
  std::function<void(const policy::Context& context, const policy::Verdict& verdict)> decided;
};

// Whether resource policies can matter to a caller with all rights.
bool has_resource_policies(Engine& engine);

// A user of the engine's account. The rest is for who knows the request.
policy::Caller caller_of(Engine& engine, std::string_view username);

// The first need that is denied fails with kAccessDenied. The needs are complete.
Result<void> decide(const Access& access, const Needs& needs);

// Of an action on no resource of the engine's, such as "cloudwatch:GetMetricData".
Result<void> authorize_action(const Access& access, std::string_view action);

// The keys of conditions that can decide about the caller's requests.
policy::KeySet wanted_keys(const Access& access, const AccessView& view);

// kAccessDenied, or kValidation for a request, an expression or a statement that the engine refuses
// too. `gathers` collects the needs.
template <class Gather>
Result<void> authorize_with(const Access& access, Engine& engine, Gather gathers) {
  const AccessView view(engine);
  policy::KeySet wanted = wanted_keys(access, view);
  for (;;) {
    Needs needs(view, access.caller, wanted);
    Result<void> gathered = gathers(needs);
    if (!needs.complete()) {
      wanted.set();
      continue;
    }
    // A denial comes first: it tells less.
    STATOR_RETURN_IF_ERROR(decide(access, needs));
    return gathered;
  }
}

template <class Request>
Result<void> authorize(const Access& access, Engine& engine, const Request& request) {
  // Its errors depend on the request alone, and what is looked at afterwards has the API's limits.
  STATOR_RETURN_IF_ERROR(validate(request));
  return authorize_with(access, engine, [&](Needs& needs) { return gather(needs, request); });
}
// Of an administrative operation. kValidation also for a resource policy that would keep the caller
// from changing it, unless the request confirms that.
Result<void> authorize(const Access& access, Engine& engine, std::string_view operation,
                       const Item& request);

}  // namespace stator::access
