// SPDX-License-Identifier: Apache-2.0
// The part of UpdateTable that changes the definition.
#pragma once

#include "engine/schema/schema_engine.h"

namespace stator {

Result<TableVersions> change_table(SchemaEngine& engine, const UpdateTableRequest& request);

}  // namespace stator
