// SPDX-License-Identifier: Apache-2.0
// ItemEngine: the parts of the engine that writes of items need.
#pragma once

#include "engine/core/engine_core.h"
#include "engine/items/token_sweep.h"

namespace stator {

struct ItemEngine : EngineCore {
  using EngineCore::EngineCore;

  TokenSweepState token_sweep;
};

}  // namespace stator
