// SPDX-License-Identifier: Apache-2.0
// The dashboard, the alert rules and the list of metrics name what a server exports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "server/server.h"
#include "server/service_harness.h"
#include "support/must.h"
#include "support/paths.h"
#include "support/raw_connection.h"
#include "support/read_file.h"

namespace stator::server {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Names = std::set<std::string>;

Names matches_of(const std::string& text, const std::regex& pattern) {
  Names names;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

// A metric's name in the text, without a histogram's suffixes.
Names metrics_in(const std::string& text) {
  static const std::regex metric("\\b((?:stator|process)_[a-z_]+[a-z])");
  static const std::regex ending("(.*(?:_seconds|_bytes))_(?:bucket|sum|count)");
  Names names;
  for (const std::string& name : matches_of(text, metric)) {
    std::smatch histogram;
    names.insert(std::regex_match(name, histogram, ending) ? histogram[1].str() : name);
  }
  return names;
}

// The metrics of a server that has answered a request. tests/cluster/cluster_test.cc reads those of
// PostgreSQL, which this server does not have.
Names exported_metrics() {
  const auto server = test::must(Server::start({.listen = {.host = "127.0.0.1", .port = 0}}));
  test::RawConnection connection(server->port());
  EXPECT_TRUE(connection.send(get("/metrics")));
  const std::string page = connection.read_answer().body;
  Names names = matches_of(page, std::regex("# TYPE ([a-z_]+) "));
  names.insert({"stator_database_connections", "stator_database_connections_busy",
                "stator_database_info", "stator_database_queue_length",
                "stator_stream_horizon_lag_seconds"});
  return names;
}

TEST(Monitoring, NamesOnlyMetricsThatExist) {
  const Names exported = exported_metrics();
  ASSERT_THAT(exported, Contains("stator_ready"));
  const std::filesystem::path docs = test::source_path("docs");
  for (const std::string file : {"grafana-dashboard.json", "prometheus-alerts.yml"}) {
    const Names named = metrics_in(test::read_file(docs / "monitoring" / file));
    EXPECT_THAT(named, Not(IsEmpty())) << file;
    for (const std::string& name : named) EXPECT_THAT(exported, Contains(name)) << file;
  }
}

TEST(Monitoring, DocumentsEveryMetricAndNoOther) {
  EXPECT_EQ(metrics_in(test::read_file(test::source_path("docs/metrics.md"))), exported_metrics());
}

// Only histograms lose their suffixes.
TEST(Monitoring, KnowsAHistogramByItsParts) {
  EXPECT_EQ(metrics_in("rate(stator_a_seconds_bucket[5m]) / stator_b_total - stator_c_bytes_sum"),
            (Names{"stator_a_seconds", "stator_b_total", "stator_c_bytes"}));
  EXPECT_THAT(metrics_in("prestator_x 1"), SizeIs(0));
}

}  // namespace
}  // namespace stator::server
