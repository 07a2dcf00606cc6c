// SPDX-License-Identifier: Apache-2.0
// stator serve over HTTPS, as the program's own commands and operators use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/stator_program.h"
#include "support/paths.h"
#include "support/poll_until.h"
#include "support/temp_dir.h"
#include "support/tls_connection.h"

namespace stator::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ServeTls : public ::testing::Test {
 protected:
  ServeTls() { Certificate("first").write(certificate_, key_); }

  std::vector<std::string> flags() const {
    return {"serve",       "--memory",   "--listen",   "127.0.0.1:0", "--metrics",
            "127.0.0.1:0", "--tls-cert", certificate_, "--tls-key",   key_};
  }
  static std::string name_at(uint16_t port) { return TlsConnection(port, {}).peer_name(); }
  static bool becomes(uint16_t port, const std::string& name) {
    return poll_until([&] { return name_at(port) == name; });
  }

  TempDir directory_;
  std::string certificate_ = directory_.path() / "cert.pem";
  std::string key_ = directory_.path() / "key.pem";
};

TEST_F(ServeTls, ServesCommandsThatTrustItsCertificate) {
  Process server(stator_command(flags()));
  const std::string line = server.read_line();
  ASSERT_THAT(line, StartsWith("listening on https://127.0.0.1:"));
  const std::string url = line.substr(line.find("https"));
  unsetenv("AWS_CA_BUNDLE");
  const Ran refused = run_stator({"tables", "--endpoint", url});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("no authority in this system's files has signed the "));
  setenv("AWS_CA_BUNDLE", certificate_.c_str(), 1);
  EXPECT_EQ(run_stator({"toggle", "save", "--endpoint", url, "lamp", "on"}).err, "");
  const Ran tables = run_stator({"tables", "--endpoint", url});
  unsetenv("AWS_CA_BUNDLE");
  EXPECT_THAT(tables.out, HasSubstr("Toggles"));
}

TEST_F(ServeTls, RespondsToHealthChecksThatDoNotTrustItsCertificate) {
  Process server(stator_command(flags()));
  const std::string line = server.read_line();
  EXPECT_THAT(run_stator({"health", line.substr(line.find("https"))}), Prints("ready\n"));
}

TEST_F(ServeTls, RespondsToHealthChecksWithACertificateIfItRequiresOne) {
  std::vector<std::string> asking = flags();
  asking.insert(asking.end(), {"--tls-client-ca", certificate_});
  Process server(stator_command(asking));
  const std::string line = server.read_line();
  const std::string url = line.substr(line.find("https"));
  EXPECT_EQ(run_stator({"health", url}).status, 1);
  const std::string other = directory_.path() / "other.pem";
  const std::string other_key = directory_.path() / "other-key.pem";
  Certificate("stranger").write(other, other_key);
  EXPECT_EQ(run_stator({"health", url, "--client-cert", other, "--client-key", other_key}).status,
            1);
  EXPECT_THAT(run_stator({"health", url, "--client-cert", certificate_, "--client-key", key_}),
              Prints("ready\n"));
  const std::string with_environment =
      "STATOR_HEALTH_ENDPOINT=" + url + " STATOR_HEALTH_CLIENT_CERT=" + certificate_ +
      " STATOR_HEALTH_CLIENT_KEY=" + key_ + " STATOR_HEALTH_TIMEOUT=30s exec ";
  Process check({"sh", "-c", with_environment + stator_binary() + " health"});
  EXPECT_EQ(check.wait(), 0);
  EXPECT_EQ(check.out(), "ready\n");
  expect_refusal({"health", url, "--client-cert", certificate_}, 2, "--client-key");
  expect_refusal({"health", url, "--client-key", key_}, 2, "--client-cert");
  expect_refusal({"health", url, "--client-cert", "/nowhere", "--client-key", key_}, 1,
                 "could not use client certificate '/nowhere'");
}

TEST_F(ServeTls, ReportsWhyItKeepsTheOldPairAtASignal) {
  Process server(stator_command(flags()));
  const uint16_t port = port_in(server.read_line());
  Certificate("second").write(certificate_, directory_.path() / "new.pem");
  server.send_signal(SIGHUP);
  EXPECT_EQ(name_at(port), "first");
  server.send_signal(SIGTERM);  // handled after a pending SIGHUP
  EXPECT_EQ(server.wait(), 0);
  EXPECT_THAT(server.err(), HasSubstr("TLS certificate not reloaded: key '" + key_ +
                                      "' is not that of certificate '" + certificate_ + "'"));
}

TEST_F(ServeTls, LoadsANewPairAtASignalAndWithoutOne) {
  Process server(stator_command(flags()));
  const uint16_t port = port_in(server.read_line());
  std::string metrics;
  while (!metrics.starts_with("metrics are on ")) metrics = server.read_line();
  const uint16_t metrics_port = port_in(metrics.substr(0, metrics.rfind('/')));
  Certificate("second").write(certificate_, key_);
  server.send_signal(SIGHUP);
  EXPECT_TRUE(becomes(port, "second"));
  EXPECT_TRUE(becomes(metrics_port, "second"));
  Certificate("third").write(certificate_, key_);
  EXPECT_TRUE(becomes(port, "third"));
}

TEST_F(ServeTls, RefusesHalfOfAPairAndFilesThatItCannotUse) {
  expect_refusal({"serve", "--memory", "--tls-cert", certificate_}, 2, "--tls-key");
  expect_refusal({"serve", "--memory", "--tls-key", key_}, 2, "--tls-cert");
  expect_refusal({"serve", "--memory", "--tls-client-ca", certificate_}, 2, "--tls-cert");
  expect_refusal({"serve", "--memory", "--tls-cert", "/nowhere", "--tls-key", key_}, 1,
                 "certificate '/nowhere'");
}

}  // namespace
}  // namespace stator::test
