// SPDX-License-Identifier: Apache-2.0
// stator health: checks whether a server accepts writes, for health checks of containers without
// another HTTP client.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/endpoint.h"
#include "client/readiness.h"

namespace stator::cli {
namespace {

int check_health(const ReadinessOptions& options) {
  const auto response = ask_readiness(options);
  if (!response) return report(response.error());
  if (!response->ready) return report({.code = Code::kIo, .message = response->text});
  std::puts(one_line(response->text).c_str());
  return kSuccess;
}

}  // namespace

void add_health(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ReadinessOptions>();
  flags->endpoint = kLocalEndpoint;
  CLI::App* command = app.add_subcommand(
      "health", "Check that a server takes writes; exit status 1 if it does not");
  command
      ->add_option("endpoint", flags->endpoint,
                   "The server, or its --metrics; its certificate is not checked")
      ->type_name("URL")
      ->envname("STATOR_HEALTH_ENDPOINT")
      ->capture_default_str();
  add_duration(*command, "--timeout", flags->timeout, "Longest wait for the response",
               std::chrono::milliseconds(1), std::chrono::hours(1))
      ->envname("STATOR_HEALTH_TIMEOUT");
  CLI::Option* certificate =
      command
          ->add_option("--client-cert", flags->client_certificate,
                       "Certificate in PEM for a server with --tls-client-ca")
          ->type_name("FILE")
          ->envname("STATOR_HEALTH_CLIENT_CERT");
  CLI::Option* key =
      command->add_option("--client-key", flags->client_key, "The key of that certificate, in PEM")
          ->type_name("FILE")
          ->envname("STATOR_HEALTH_CLIENT_KEY")
          ->needs(certificate);
  certificate->needs(key);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return check_health(*flags); }; });
}

}  // namespace stator::cli
