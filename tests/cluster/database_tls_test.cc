// SPDX-License-Identifier: Apache-2.0
// TLS between `stator serve` and PostgreSQL, with libpq's parameters in the URL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "cli/stator_program.h"
#include "stator/database.h"
#include "storage/postgres/postgres_fixture.h"
#include "support/loopback_listener.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/tls_connection.h"

namespace stator::test {
namespace {

using ::testing::HasSubstr;

std::string free_port() {
  return std::to_string(LoopbackListener([](int client, const auto&) { close(client); }).port());
}

// A PostgreSQL that listens on a port of 127.0.0.1, with TLS.
class DatabaseTls : public ::testing::Test {
 protected:
  void SetUp() override {
    postgres_dsn();
    if (own_postgres() == nullptr) GTEST_SKIP() << "no PostgreSQL to start";
    // Another program can take the port before the server does.
    for (int tries = 0; tries < 5 && (!server_ || server_->dsn().empty()); ++tries) {
      port_ = free_port();
      server_.emplace(std::vector<std::string>{"listen_addresses=127.0.0.1", "port=" + port_});
    }
    const std::filesystem::path key = server_->data() / "server.key";
    certificate_.write(server_->data() / "server.crt", key);
    ASSERT_EQ(chmod(key.c_str(), S_IRUSR | S_IWUSR), 0);
    ASSERT_TRUE(PostgresServer::give(key));
    std::ofstream(server_->data() / "postgresql.auto.conf", std::ios::app) << "ssl = on\n";
    server_->restart();
    ASSERT_FALSE(server_->dsn().empty()) << "it did not start with TLS";
  }
  std::string url(const std::string& parameters, const std::string& host = "127.0.0.1") const {
    return "postgresql://postgres@" + host + ":" + port_ + "/postgres?" + parameters;
  }
  // Writes a certificate, and returns the parameters of a URL that trusts it.
  std::string trusting(const Certificate& certificate) const {
    const std::filesystem::path root = directory_.path() / "root.crt";
    certificate.write(root, directory_.path() / "root.key");
    return "sslmode=verify-full&sslrootcert=" + root.string();
  }

  const TempDir directory_;
  const Certificate certificate_{"database"};
  std::string port_;
  std::optional<PostgresServer> server_;
};

TEST_F(DatabaseTls, VerifiesTheServersCertificateAndName) {
  const std::string trusted = trusting(certificate_);
  EXPECT_THAT(run_stator({"cluster", "init", "--store", url(trusted)}),
              Prints("schema 'stator' is ready\n"));
  const auto database = must(Database::open({.store = url(trusted)}));
  const auto connection = postgres::Connection::connect({.dsn = url(trusted)}, false);
  ASSERT_TRUE(connection) << connection.error().message;
  const auto rows = (*connection)
                        ->run_script(
                            "SELECT count(*) > 1 AND bool_and(ssl) FROM pg_stat_ssl JOIN "
                            "pg_stat_activity USING (pid) "
                            "WHERE application_name = 'stator'");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->bytes(0, 0), "t");

  expect_refusal({"serve", "--store", url(trusted + "&hostaddr=127.0.0.1", "db.example")}, 1,
                 "does not match host name \"db.example\"");
}

TEST_F(DatabaseTls, RejectsAServerWithAnotherRoot) {
  const std::string stranger = trusting(Certificate("stranger"));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"serve", "--port", "0"}, {"cluster", "init"}, {"tables"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--store", url(stranger)});
    expect_refusal(arguments, 1, "certificate verify failed");
  }
  expect_refusal({"serve", "--store", url("sslmode=verify-full&sslrootcert=/nowhere")}, 1,
                 "root certificate file \"/nowhere\" does not exist");
}

}  // namespace
}  // namespace stator::test
