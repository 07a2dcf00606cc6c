// SPDX-License-Identifier: Apache-2.0
// Needs: the actions on resources that a request consists of, with the values of condition keys.
//
// They depend only on the request and on the names of partition keys, so that a denial does not
// reveal whether a table or an item exists. Table names become the ARNs that the engine would
// assign, whether the request has names or ARNs.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/access_view.h"
#include "expression/tree.h"
#include "policy/context.h"
#include "stator/requests.h"
#include "stator/statements.h"
#include "stator/streams.h"

namespace stator::access {

struct Need {
  policy::Context context;
  // The table whose resource policy applies, see ResourcePolicies::find. Empty: none.
  std::string table = {};
  std::string rest = {};
  PolicyPtr policy = {};  // of the resource; null: none. Set by Needs::complete().
};

class Needs {
 public:
  // Keys that are not in `wanted` can be left without values to save work.
  Needs(const AccessView& view, const policy::Caller& caller, const policy::KeySet& wanted)
      : view_(view), caller_(caller), wanted_(wanted) {}

  const std::deque<Need>& all() const { return all_; }
  bool wants(policy::Key key) const { return wanted_.test(static_cast<std::size_t>(key)); }
  const AccessView& view() const { return view_; }

  // Call after adding all needs. Looks up the resource policies. Returns false if one of them, for
  // example a new one, has a condition on a key that was not in `wanted`.
  bool complete();

  // Each adds a need, whose address stays valid. Tables are names or ARNs.
  Need& anywhere(std::string_view action);  // on no resource
  Need& repeat(const Need& need);           // a copy of its current state
  Need& on_resource(std::string_view action, std::string arn);
  // `rest` follows the table's name in the ARN: "/index/ByPlace", "/stream/…".
  Need& on_table(std::string_view action, std::string_view name, std::string_view rest = {});
  Need& on_index(std::string_view action, std::string_view table,
                 const std::optional<std::string>& index);
  // For an ARN from a request, of which the engine uses only a part.
  Need& on_table_arn(std::string_view action, std::string_view arn);

  std::string arn(std::string_view resource) const;  // "table/Music"

 private:
  const AccessView& view_;
  const policy::Caller& caller_;
  policy::KeySet wanted_;
  std::deque<Need> all_;
};

// ---- Values of condition keys

// dynamodb:LeadingKeys: the value of a partition key as text.
void add_leading_key(Need& need, const AttributeValue& value);
// The key's value in an item or a key; adds nothing if it is missing.
void add_leading_key(Need& need, const std::optional<std::string>& partition_key, const Item& item);
// Adds the keys that a bound condition requires by an equality outside OR and NOT.
void add_demanded_keys(Need& need, std::string_view partition_key,
                       const expression::ConditionNode& condition);
// dynamodb:Attributes, top-level names. Needs::complete() removes duplicates.
void add_attribute(Need& need, std::string_view name);
void add_attributes(Need& need, const Item& item);
// Adds the attributes in bound trees.
void add_attributes(Need& need, const expression::Path& path);
void add_attributes(Need& need, const expression::ConditionNode& condition);
void add_attributes(Need& need, const expression::UpdateTree& update);

}  // namespace stator::access
