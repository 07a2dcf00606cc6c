// SPDX-License-Identifier: Apache-2.0
#include "http/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "http/server.h"
#include "support/temp_dir.h"
#include "support/tls_connection.h"

namespace stator::http {
namespace {

using std::chrono::milliseconds;
using test::Certificate;
using test::RawConnection;
using test::TlsClient;
using test::TlsConnection;
using ::testing::HasSubstr;

constexpr std::string_view kRequest = "GET /a HTTP/1.1\r\n\r\n";

class TlsTest : public testing::Test {
 protected:
  TlsTest() { server_certificate_.write(files_.certificate, files_.key); }

  std::shared_ptr<Tls> load() const {
    auto tls = Tls::load(files_);
    EXPECT_TRUE(tls) << (tls ? "" : tls.error().message);
    return tls ? std::move(*tls) : nullptr;
  }
  std::unique_ptr<Server> start(std::shared_ptr<const Tls> tls, ServerOptions options = {}) const {
    options.tls = std::move(tls);
    auto server = Server::start(std::move(options), [](const Request& request, Respond respond) {
      respond({.body = std::string(request.target)});
    });
    EXPECT_TRUE(server) << (server ? "" : server.error().message);
    return server ? std::move(*server) : nullptr;
  }
  static int status_of(TlsConnection& connection) {
    return connection.send(kRequest) ? connection.read_answer().status : 0;
  }
  static std::string refusal(const TlsFiles& files) {
    const auto tls = Tls::load(files);
    EXPECT_FALSE(tls);
    return tls ? "" : tls.error().message;
  }
  void write(const std::filesystem::path& file, std::string_view text) const {
    std::ofstream(file) << text;
  }

  test::TempDir directory_;
  TlsFiles files_{.certificate = directory_.path() / "cert.pem",
                  .key = directory_.path() / "key.pem"};
  Certificate server_certificate_{"server"};
};

TEST_F(TlsTest, SpeaksTls12And13AndNothingOlder) {
  const auto server = start(load());
  TlsConnection newest(server->port(), {.trusted = &server_certificate_});
  EXPECT_EQ(newest.version(), "TLSv1.3");
  EXPECT_EQ(status_of(newest), 200);
  TlsConnection older(server->port(),
                      {.trusted = &server_certificate_, .version_max = TLS1_2_VERSION});
  EXPECT_EQ(older.version(), "TLSv1.2");
  EXPECT_EQ(status_of(older), 200);
  const TlsConnection oldest(server->port(),
                             {.version_min = TLS1_VERSION, .version_max = TLS1_1_VERSION});
  EXPECT_FALSE(oldest.is_secure());
}

TEST_F(TlsTest, DirectsAPlainClientToHttps) {
  const auto server = start(load());
  RawConnection plain(server->port());
  ASSERT_TRUE(plain.send(kRequest));
  const auto answer = plain.read_answer();
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("https://"));
  EXPECT_TRUE(plain.ended_by_peer());
}

TEST_F(TlsTest, ClosesForeignConnectionsAndSlowHandshakes) {
  const auto server = start(load(), {.request_timeout = milliseconds(100)});
  RawConnection garbage(server->port());
  ASSERT_TRUE(garbage.send(std::string(1000, '\xff')));
  EXPECT_EQ(garbage.read_answer().status, 0);
  RawConnection silent(server->port());
  EXPECT_TRUE(silent.ended_by_peer());
  RawConnection half(server->port());
  ASSERT_TRUE(half.send("\x16\x03\x01\x02"));
  EXPECT_TRUE(half.ended_by_peer());
}

TEST_F(TlsTest, RequiresClientCertificatesOfTheirAuthority) {
  const Certificate authority("authority");
  const Certificate client("client", &authority);
  const Certificate stranger("stranger");
  authority.write(directory_.path() / "ca.pem", directory_.path() / "ca.key");
  files_.client_ca = directory_.path() / "ca.pem";
  const auto server = start(load());
  TlsConnection known(server->port(), {.own = &client});
  EXPECT_EQ(status_of(known), 200);
  TlsConnection again(server->port(), {.own = &client, .version_max = TLS1_2_VERSION});
  EXPECT_EQ(status_of(again), 200);
  TlsConnection nobody(server->port(), {});
  EXPECT_EQ(status_of(nobody), 0);
  TlsConnection other(server->port(), {.own = &stranger});
  EXPECT_EQ(status_of(other), 0);
}

TEST_F(TlsTest, ShowsANewCertificateToNewConnections) {
  const auto tls = load();
  const auto server = start(tls);
  TlsConnection old(server->port(), {});
  EXPECT_EQ(old.peer_name(), "server");
  Certificate("renewed").write(files_.certificate, files_.key);
  ASSERT_TRUE(tls->reload());
  EXPECT_EQ(status_of(old), 200) << "goes on with the old one";
  TlsConnection renewed(server->port(), {});
  EXPECT_EQ(renewed.peer_name(), "renewed");
  EXPECT_EQ(status_of(renewed), 200);
}

TEST_F(TlsTest, KeepsTheOldPairUntilTheNewOneIsWhole) {
  const auto tls = load();
  const auto server = start(tls);
  const Certificate renewed("renewed");
  renewed.write(files_.certificate, directory_.path() / "new.key");
  const auto half = tls->reload();
  ASSERT_FALSE(half);
  EXPECT_THAT(half.error().message, HasSubstr("is not that of certificate"));
  EXPECT_EQ(TlsConnection(server->port(), {}).peer_name(), "server");
  std::filesystem::rename(directory_.path() / "new.key", files_.key);
  ASSERT_TRUE(tls->reload());
  EXPECT_EQ(TlsConnection(server->port(), {}).peer_name(), "renewed");
}

TEST_F(TlsTest, NamesTheFileThatCannotBeUsed) {
  const auto missing = directory_.path() / "missing.pem";
  const auto text = directory_.path() / "text.pem";
  write(text, "no PEM");
  EXPECT_THAT(refusal({.certificate = missing, .key = files_.key}),
              HasSubstr("certificate '" + missing.string() + "': No such file or directory"));
  const auto unreadable = Tls::load({.certificate = missing, .key = files_.key});
  ASSERT_FALSE(unreadable);
  EXPECT_EQ(unreadable.error().code, Code::kIo);
  EXPECT_THAT(refusal({.certificate = text, .key = files_.key}),
              HasSubstr("certificate '" + text.string() + "': no start line"));
  EXPECT_THAT(refusal({.certificate = files_.certificate, .key = text}),
              HasSubstr("key '" + text.string() + "'"));
  EXPECT_THAT(refusal({.certificate = files_.certificate, .key = files_.key, .client_ca = text}),
              HasSubstr("certificates of clients '" + text.string() + "'"));
}

}  // namespace
}  // namespace stator::http
