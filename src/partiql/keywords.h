// SPDX-License-Identifier: Apache-2.0
// PartiQL's reserved words. They are names only within double quotes.
#pragma once

#include <string_view>

namespace stator::partiql {

bool is_keyword(std::string_view lower_case_word);

}  // namespace stator::partiql
