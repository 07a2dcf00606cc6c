// SPDX-License-Identifier: Apache-2.0
// Operations over HTTP, compared with the same HTTP server with a constant response.
#include <csignal>
#include <cstdio>
#include <fstream>

#include "bench/contests.h"
#include "bench/raw_rocks.h"
#include "bench/signer.h"
#include "http/server.h"
#include "stator/http_client.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator::bench {
namespace {

// Latency is measured below saturation, at this share of the rate of the server on disk.
constexpr double kOfferedPart = 0.5;
constexpr int kConnections[] = {1, 16, 64};

bool fill_over_http(const std::string& url, const WorkOptions& work) {
  auto client = HttpClient::open({.endpoint = url});
  return client && fill(*client, work);
}

// The rate of one event loop, compared with one that returns a constant response.
bool signed_on_one_loop(const Settings& settings, const test::TempDir& directory,
                        Findings& findings) {
  const auto credentials = directory.path() / "credentials";
  std::ofstream(credentials) << "[bench]\naws_access_key_id = " << kAccessKey
                             << "\naws_secret_access_key = " << kSecretKey << '\n';
  // The same key with a policy on keys and attributes.
  const auto limited = directory.path() / "limited";
  std::ofstream(directory.path() / "policy.json") << R"({"Version": "2012-10-17", "Statement": [
             {"Effect": "Deny", "Action": "dynamodb:DeleteTable", "Resource": "*"},
             {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "arn:aws:dynamodb:*:*:table/*",
              "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": "*",
                                                        "dynamodb:Attributes": "*"},
                            "IpAddress": {"aws:SourceIp": "127.0.0.0/8"}}}]})";
  std::ofstream(limited) << "[bench]\naws_access_key_id = " << kAccessKey
                         << "\naws_secret_access_key = " << kSecretKey
                         << "\npolicy = policy.json\nrequests_per_second = 1000000000\n";
  test::ServerProcess constant(settings.self, {"--constant", "--threads", "1"});
  test::ServerProcess disk(settings.stator,
                           {"--data", (directory.path() / "signed").string(), "--threads", "1",
                            "--credentials", credentials.string()});
  test::ServerProcess with_policy(
      settings.stator, {"--data", (directory.path() / "policy").string(), "--threads", "1",
                        "--credentials", limited.string()});
  auto limited_client =
      HttpClient::open({.endpoint = with_policy.url(),
                        .credentials = {std::string(kAccessKey), std::string(kSecretKey)}});
  test::ServerProcess open_to_all(
      settings.stator, {"--data", (directory.path() / "open").string(), "--threads", "1"});
  auto client = HttpClient::open(
      {.endpoint = disk.url(), .credentials = {std::string(kAccessKey), std::string(kSecretKey)}});
  if (!client || !limited_client || !fill(*client, settings.work) ||
      !fill(*limited_client, settings.work) || !fill_over_http(open_to_all.url(), settings.work)) {
    return false;
  }
  return run_contest({.title = "HTTP: GetItem on one event loop",
                      .threads = 16,
                      .contenders = {{"constant answer of 1 KB",
                                      over_http(constant.url(), Kind::kGet, settings.work)},
                                     {"stator serve, any signature",
                                      over_http(open_to_all.url(), Kind::kGet, settings.work)},
                                     {"stator serve, signatures checked",
                                      signed_gets_over_http(disk.url(), settings.work)},
                                     {"stator serve, a policy and a limit checked",
                                      signed_gets_over_http(with_policy.url(), settings.work)}}},
                     settings.plan, findings.measurements);
}

}  // namespace

bool over_http(const Settings& settings, Findings& findings) {
  const test::TempDir directory;
  const WorkOptions& work = settings.work;
  test::ServerProcess constant(settings.self, {"--constant"});
  test::ServerProcess disk(settings.stator, {"--data", (directory.path() / "sync").string()});
  test::ServerProcess disk_os(settings.stator,
                              {"--data", (directory.path() / "os").string(), "--durability", "os"});
  test::ServerProcess memory(settings.stator, {"--memory"});
  for (const test::ServerProcess* server : {&disk, &disk_os, &memory}) {
    if (server->url().empty() || !fill_over_http(server->url(), work)) return false;
  }
  RawRocks raw(directory.path() / "raw");
  const OperationFactory raw_put = [&](int thread) -> Operation {
    return [&, numbers = Numbers(thread, work.items)]() mutable {
      return raw.put(numbers.next(), work.filler, true);
    };
  };
  for (const Kind kind : kKinds) {
    for (const int connections : kConnections) {
      Contest contest{.title = std::string("HTTP: ") + title_of(kind), .threads = connections};
      if (kind == Kind::kPut) {
        contest.contenders.push_back({"raw RocksDB synced Put", raw_put});
      }
      contest.contenders.push_back(
          {"constant answer of 1 KB", over_http(constant.url(), kind, work)});
      contest.contenders.push_back({"stator serve, sync", over_http(disk.url(), kind, work)});
      if (writes(kind)) {
        contest.contenders.push_back({"stator serve, os", over_http(disk_os.url(), kind, work)});
      }
      contest.contenders.push_back({"stator serve, memory", over_http(memory.url(), kind, work)});
      if (!run_contest(contest, settings.plan, findings.measurements)) return false;
      if (connections != 16 || (kind != Kind::kGet && kind != Kind::kPut)) continue;
      contest.offered_per_second =
          kOfferedPart * findings.rate(contest.title, "stator serve, sync", connections);
      contest.title += ", open loop at half its load";
      if (kind == Kind::kPut) contest.contenders.erase(contest.contenders.begin());
      if (!run_contest(contest, settings.plan, findings.measurements)) return false;
    }
  }
  return signed_on_one_loop(settings, directory, findings);
}

bool compare(const Settings& settings, const std::vector<std::pair<std::string, std::string>>& urls,
             Findings& findings) {
  for (const auto& [name, url] : urls) {
    std::printf("filling %s\n", name.c_str());
    if (!fill_over_http(url, settings.work)) return false;
  }
  for (const Kind kind : kKinds) {
    for (const int connections : kConnections) {
      Contest contest{.title = std::string("HTTP: ") + title_of(kind), .threads = connections};
      for (const auto& [name, url] : urls) {
        contest.contenders.push_back({name, over_http(url, kind, settings.work)});
      }
      // Failures are ignored: not every endpoint has every operation.
      run_contest(contest, settings.plan, findings.measurements);
    }
  }
  return true;
}

int serve_constant(int threads) {
  auto server = http::Server::start({.threads = threads}, [](const http::Request&,
                                                             http::Respond respond) {
    static const std::string body(1'000, 'x');
    respond(
        {.status = 200, .headers = {{"Content-Type", "application/x-amz-json-1.0"}}, .body = body});
  });
  if (!server) return 1;
  std::printf("listening on http://127.0.0.1:%d\n", (*server)->port());
  std::fflush(stdout);
  pause();
  return 0;
}

}  // namespace stator::bench
