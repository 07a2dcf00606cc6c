// SPDX-License-Identifier: Apache-2.0
// Where a command's tables are: `--data DIR` in this process, or `--endpoint URL`.
#pragma once

#include <memory>
#include <string>

#include "stator/client.h"

namespace CLI {
class App;
}

namespace stator::cli {

struct EndpointFlags {
  std::string data;
  std::string endpoint;
  std::string region = "us-east-1";
};

// --data, --endpoint and --region; exactly one of the first two must be given.
void add_endpoint_flags(CLI::App& command, EndpointFlags& flags);

// Credentials come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and are
// made up where those are not set, as `stator serve` on loopback takes any.
Result<std::unique_ptr<Client>> open_client(const EndpointFlags& flags);

}  // namespace stator::cli
