// SPDX-License-Identifier: Apache-2.0
#include "console/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <fstream>
#include <string>
#include <vector>

#include "console/embedded_files.h"
#include "support/paths.h"
#include "support/read_file.h"
#include "support/temp_dir.h"

namespace stator::console {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

http::Response get(std::string_view target, std::vector<http::Header> headers = {},
                   std::string_view method = "GET", const Console& console = Console()) {
  const http::Request request{
      .method = method, .target = target, .body = {}, .headers = std::move(headers)};
  return console.respond(request);
}

std::string source_of(std::string_view name) {
  return test::read_file(test::source_path("console/" + std::string(name)));
}

std::string tag_in(const http::Response& response) {
  const std::string& text = response.headers.text();
  const std::size_t begin = text.find("ETag: ") + 6;
  return text.substr(begin, text.find('\r', begin) - begin);
}

TEST(Console, ServesItsPathsOnly) {
  EXPECT_TRUE(Console::serves("/console"));
  EXPECT_TRUE(Console::serves("/console?x"));
  EXPECT_TRUE(Console::serves("/console/main.js?v=1"));
  EXPECT_FALSE(Console::serves("/"));
  EXPECT_FALSE(Console::serves("/consoles"));
  EXPECT_FALSE(Console::serves("/x/console/"));
}

TEST(Console, RedirectsToTheDirectory) {
  const auto response = get("/console");
  EXPECT_EQ(response.status, 308);
  EXPECT_THAT(response.headers.text(), HasSubstr("Location: /console/\r\n"));
}

TEST(Console, EmbedsEveryFileAsItIs) {
  ASSERT_FALSE(embedded_files().empty());
  for (const EmbeddedFile& file : embedded_files()) {
    const auto response = get("/console/" + std::string(file.name));
    EXPECT_EQ(response.status, 200) << file.name;
    EXPECT_EQ(response.body, source_of(file.name)) << file.name;
    EXPECT_THAT(response.body, HasSubstr("SPDX-License-Identifier: Apache-2.0")) << file.name;
    EXPECT_THAT(response.headers.text(), Not(HasSubstr("Content-Encoding")));
  }
}

TEST(Console, IndexIsTheDirectory) {
  const auto response = get("/console/");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.headers.text(), HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
  EXPECT_EQ(response.body, source_of("index.html"));
}

TEST(Console, CompressesIfTheClientAcceptsIt) {
  const auto response = get("/console/main.js", {{"accept-encoding", "br, gzip;q=0.8"}});
  EXPECT_THAT(response.headers.text(), HasSubstr("Content-Encoding: gzip\r\n"));
  const std::string source = source_of("main.js");
  EXPECT_LT(response.body.size(), source.size());
  std::string content(source.size(), '\0');
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  EXPECT_EQ(libdeflate_gzip_decompress(decompressor, response.body.data(), response.body.size(),
                                       content.data(), content.size(), nullptr),
            LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor(decompressor);
  EXPECT_EQ(content, source);
  for (const char* refused : {"", "br", "gzip;q=0", "gzipped"}) {
    EXPECT_EQ(get("/console/main.js", {{"accept-encoding", refused}}).body, source) << refused;
  }
}

TEST(Console, RevalidatesByTag) {
  const std::string tag = tag_in(get("/console/main.js"));
  const auto unchanged = get("/console/main.js", {{"if-none-match", "\"x\", " + tag}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.body, "");
  EXPECT_EQ(tag_in(unchanged), tag);
  EXPECT_EQ(get("/console/main.js", {{"if-none-match", "W/\"x\""}}).status, 200);
  EXPECT_NE(tag_in(get("/console/style.css")), tag);
}

TEST(Console, ForbidsEverythingFromElsewhere) {
  for (const char* target : {"/console/", "/console/main.js", "/console/none", "/console"}) {
    const std::string headers = get(target).headers.text();
    EXPECT_THAT(headers,
                HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; "
                          "style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"));
    EXPECT_THAT(headers, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(headers, HasSubstr("Referrer-Policy: no-referrer\r\n"));
    EXPECT_THAT(headers, HasSubstr("Cache-Control: no-cache\r\n"));
  }
}

TEST(Console, HasNoOtherNames) {
  for (const char* target :
       {"/console/none", "/console/../CMakeLists.txt", "/console/..%2fREADME.md", "/console//",
        "/console//etc/passwd", "/console/./main.js", "/console/MAIN.JS", "/console/main.js/"}) {
    EXPECT_EQ(get(target).status, 404) << target;
    EXPECT_EQ(get(target, {}, "GET", Console(test::source_path("console"))).status, 404) << target;
  }
}

TEST(Console, RefusesOtherMethods) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    const auto response = get("/console/", {}, method);
    EXPECT_EQ(response.status, 405) << method;
    EXPECT_THAT(response.headers.text(), HasSubstr("Allow: GET, HEAD\r\n"));
  }
  EXPECT_EQ(get("/console/", {}, "HEAD").status, 200);
}

TEST(Console, ReadsADirectoryDuringDevelopment) {
  const test::TempDir directory;
  const Console console(directory.path());
  EXPECT_EQ(get("/console/main.js", {}, "GET", console).status, 404);
  std::ofstream(directory.path() / "main.js") << "first";
  EXPECT_EQ(get("/console/main.js", {}, "GET", console).body, "first");
  std::ofstream(directory.path() / "main.js") << "second";
  EXPECT_EQ(get("/console/main.js", {}, "GET", console).body, "second");
  std::ofstream(directory.path() / "secret.txt") << "no";
  EXPECT_EQ(get("/console/secret.txt", {}, "GET", console).status, 404);
}

}  // namespace
}  // namespace stator::console
