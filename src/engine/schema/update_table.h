// SPDX-License-Identifier: Apache-2.0
// UpdateTable.
#pragma once

#include "engine/engine_impl.h"

namespace stator {

Result<TableVersions> change_table(Engine::Impl& engine, const UpdateTableRequest& request);

}  // namespace stator
