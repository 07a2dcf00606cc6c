// SPDX-License-Identifier: Apache-2.0
// The backend of a command: a directory (`--data DIR`) that this process opens, or a server.
//
// Without either flag it is the AWS CLI's endpoint (AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL,
// the profile's), and without that the server on this machine, kLocalEndpoint.
#pragma once

#include <memory>
#include <string>

#include "stator/client.h"

namespace CLI {
class App;
}

namespace stator::cli {

inline constexpr const char* kLocalEndpoint = "http://127.0.0.1:8000";

struct EndpointFlags {
  std::string data;
  std::string endpoint;
  std::string region;
};

// --data, --endpoint and --region.
void add_endpoint_flags(CLI::App& command, EndpointFlags& flags);

enum class Missing { kCreate, kFail };  // what happens to a --data directory that does not exist

// Credentials and region come from the AWS CLI's variables and files. Without any, `stator` signs
// as a key of that name, because `stator serve` on loopback accepts every key.
Result<std::unique_ptr<Client>> open_client(const EndpointFlags& flags,
                                            Missing directory = Missing::kCreate);

}  // namespace stator::cli
