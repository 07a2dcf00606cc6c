// SPDX-License-Identifier: Apache-2.0
// Reports to a service manager, which the test simulates.
#include "server/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "support/matchers.h"
#include "support/notify_socket.h"
#include "support/temp_dir.h"

namespace stator::server {
namespace {

using test::NotifySocket;
using ::testing::MatchesRegex;

class ServiceManager : public ::testing::Test {
 protected:
  ~ServiceManager() override { unsetenv("NOTIFY_SOCKET"); }
  static void expect_reports(const std::string& name) {
    const NotifySocket manager(name);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_TRUE(has_service_manager());
    EXPECT_TRUE(report_state(ServiceState::kReady));
    EXPECT_EQ(manager.next(), "READY=1");
    EXPECT_TRUE(report_state(ServiceState::kReloading));
    EXPECT_THAT(manager.next(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*"));
    EXPECT_TRUE(report_state(ServiceState::kStopping));
    EXPECT_EQ(manager.next(), "STOPPING=1");
  }
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

 private:
  test::TempDir directory_;
};

TEST_F(ServiceManager, ReceivesReportsAtItsPath) {
  expect_reports(path("notify"));
}

TEST_F(ServiceManager, ReceivesReportsAtAnAbstractName) {
  expect_reports("@stator-test-" + std::to_string(getpid()));
}

TEST_F(ServiceManager, IsNotNeeded) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_FALSE(has_service_manager());
  EXPECT_TRUE(report_state(ServiceState::kReady));
  setenv("NOTIFY_SOCKET", "", 1);
  EXPECT_FALSE(has_service_manager());
  EXPECT_TRUE(report_state(ServiceState::kReady));
}

TEST_F(ServiceManager, IsNamedInErrors) {
  const std::string missing = path("missing");
  setenv("NOTIFY_SOCKET", missing.c_str(), 1);
  EXPECT_THAT(report_state(ServiceState::kReady),
              test::FailsWith(Code::kIo, "'" + missing + "': No such file"));
  for (const std::string& name : {std::string("vsock:2:1234"), "/" + std::string(107, 'x')}) {
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_THAT(report_state(ServiceState::kReady),
                test::FailsWith(Code::kInvalidArgument, "NOTIFY_SOCKET '" + name));
  }
}

}  // namespace
}  // namespace stator::server
