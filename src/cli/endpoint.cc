// SPDX-License-Identifier: Apache-2.0
#include "cli/endpoint.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/aws_settings.h"
#include "stator/database.h"
#include "stator/http_client.h"
#include "storage/postgres/store_url.h"

namespace stator::cli {
namespace {

// Pauses of less than a second in total: a person waits for the error.
constexpr int kAttempts = 6;

std::string first_of(const std::string& a, const std::string& b, const char* otherwise) {
  if (!a.empty()) return a;
  return b.empty() ? otherwise : b;
}

}  // namespace

CLI::Option* add_server_flags(CLI::App& command, CLI::App& group, EndpointFlags& flags) {
  CLI::Option* endpoint = group.add_option(
      "--endpoint", flags.endpoint,
      "A server: stator serve, Amazon DynamoDB, … Default: $AWS_ENDPOINT_URL_DYNAMODB, "
      "$AWS_ENDPOINT_URL, the AWS profile's, or " +
          std::string(kLocalEndpoint));
  endpoint->type_name("URL");
  command
      .add_option("--region", flags.region,
                  "Region of the signature. Default: $AWS_REGION, the AWS profile's, or us-east-1")
      ->type_name("REGION");
  return endpoint;
}

void add_endpoint_flags(CLI::App& command, EndpointFlags& flags) {
  CLI::Option_group* where = command.add_option_group("Where the tables are");
  CLI::Option* data =
      where->add_option("--data", flags.data, "A data directory, opened in this process");
  data->type_name("DIR")->check(CLI::Validator(
      [](const std::string& path) { return path.empty() ? "the name is empty" : ""; }, ""));
  CLI::Option* endpoint = add_server_flags(command, *where, flags);
  endpoint->excludes(data);
  const auto [store, schema] = add_store_flags(*where, flags.store);
  for (CLI::Option* option : {store, schema}) option->excludes(data)->excludes(endpoint);
}

Result<EndpointFlags> backend_named(const std::string& name) {
  if (name.empty())
    return fail(Code::kInvalidArgument, "the name of a directory or server is empty");
  if (name.starts_with("http://") || name.starts_with("https://")) {
    return EndpointFlags{.endpoint = name};
  }
  if (is_postgres_url(name)) {
    STATOR_ASSIGN_OR_RETURN(NamedStore store, named_store({.url = name}));
    return EndpointFlags{.store = {.url = std::move(store.url)}};
  }
  const std::size_t scheme = name.find("://");
  if (scheme == std::string::npos) return EndpointFlags{.data = name};
  // The rest of the URL could contain a password.
  return fail(Code::kInvalidArgument,
              "unknown URL '" + name.substr(0, scheme) +
                  "://…'; expected http://, https://, postgresql:// or a directory");
}

Result<std::unique_ptr<Client>> open_client(const EndpointFlags& flags, Missing directory) {
  NamedStore store;
  if (flags.data.empty() && flags.endpoint.empty()) {
    STATOR_ASSIGN_OR_RETURN(store, named_store(flags.store));
  }
  if (!flags.data.empty() || !store.url.empty()) {
    STATOR_ASSIGN_OR_RETURN(Database database,
                            Database::open({.path = flags.data,
                                            .store = store.url,
                                            .schema = flags.store.schema,
                                            .create_if_missing = directory == Missing::kCreate}));
    return std::make_unique<Database>(std::move(database));
  }
  STATOR_ASSIGN_OR_RETURN(const HttpClientOptions options, server_named(flags));
  STATOR_ASSIGN_OR_RETURN(HttpClient client, HttpClient::open(options));
  return std::make_unique<HttpClient>(std::move(client));
}

Result<HttpClientOptions> server_named(const EndpointFlags& flags) {
  STATOR_ASSIGN_OR_RETURN(
      AwsSettings aws,
      read_aws_settings(flags.profile.empty() ? environment_variable
                                              : with_profile(environment_variable, flags.profile)));
  const std::string endpoint = first_of(flags.endpoint, aws.endpoint, kLocalEndpoint);
  if (!aws.credentials_problem.empty() && endpoint.starts_with("https:")) {
    return fail(Code::kInvalidArgument, aws.credentials_problem);
  }
  if (aws.credentials.access_key_id.empty()) aws.credentials = {"stator", "stator"};
  return HttpClientOptions{.endpoint = endpoint,
                           .region = first_of(flags.region, aws.region, "us-east-1"),
                           .credentials = std::move(aws.credentials),
                           .ca_file = std::move(aws.ca_bundle),
                           .max_attempts = kAttempts};
}

}  // namespace stator::cli
