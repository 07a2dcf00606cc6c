// SPDX-License-Identifier: Apache-2.0
#include "protocol/promised.h"

namespace stator::protocol {

template class Operations<Promised>;

}  // namespace stator::protocol
