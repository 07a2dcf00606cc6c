// SPDX-License-Identifier: Apache-2.0
// Reports to the service manager that started this process, in the protocol of systemd's
// Type=notify: a datagram to the Unix socket that NOTIFY_SOCKET names.
//
// Thread safety: any thread, while no thread changes the environment.
// Errors: kIo with the system's reason; kInvalidArgument if NOTIFY_SOCKET is not a Unix socket.
#pragma once

#include "stator/result.h"

namespace stator::server {

enum class ServiceState {
  kReady,      // also at the end of a reload
  kReloading,  // followed by kReady
  kStopping,
};

// Whether a service manager expects reports.
bool has_service_manager();

// Does nothing without a service manager.
Result<void> report_state(ServiceState state);

}  // namespace stator::server
