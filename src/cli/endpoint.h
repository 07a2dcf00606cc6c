// SPDX-License-Identifier: Apache-2.0
// The backend of a command: a directory (`--data DIR`) or a database (`--store URL`) that this
// process opens, or a server (`--endpoint URL`).
//
// Without these flags, it is the first that is set: the database of STATOR_STORE, then the AWS
// CLI's endpoint (AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, the profile's). Otherwise it is
// kLocalEndpoint, the server on this machine.
#pragma once

#include <memory>
#include <string>

#include "cli/store_flags.h"
#include "stator/client.h"
#include "stator/http_client.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stator::cli {

inline constexpr const char* kLocalEndpoint = "http://127.0.0.1:8000";

struct EndpointFlags {
  std::string data;
  std::string endpoint;
  StoreFlags store;
  std::string region;
  std::string profile;  // of AWS, instead of the variables; set only by commands with two backends
};

// The backend that `name` selects: the URL of a server or of a PostgreSQL database, or a directory.
// Errors: those of named_store(); kInvalidArgument for an empty name and for other URLs.
Result<EndpointFlags> backend_named(const std::string& name);

// Adds --data, --store, --schema, --endpoint and --region.
void add_endpoint_flags(CLI::App& command, EndpointFlags& flags);

// Adds --endpoint to `group` and --region to `command`. Returns the option --endpoint.
CLI::Option* add_server_flags(CLI::App& command, CLI::App& group, EndpointFlags& flags);

// The server that the flags select, the credentials and the region, as open_client() uses them.
Result<HttpClientOptions> server_named(const EndpointFlags& flags);

enum class Missing { kCreate, kFail };  // if a --data directory does not exist

// Opens the backend that the flags select. Credentials and region come from the AWS CLI's variables
// and files. Without credentials, signs with the key `stator`, because `stator serve` on loopback
// accepts every key.
Result<std::unique_ptr<Client>> open_client(const EndpointFlags& flags,
                                            Missing directory = Missing::kCreate);

}  // namespace stator::cli
