// SPDX-License-Identifier: Apache-2.0
// usable_processors: the number of processors available to the calling thread.
#pragma once

namespace stator {

// The number of processors that the calling thread may run on, or the processor time that control
// groups let the process use, rounded up, if that is less. At least 1. Any thread.
int usable_processors();

}  // namespace stator
