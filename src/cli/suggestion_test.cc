// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestion.h"

#include <gtest/gtest.h>

#include "cli/progress.h"

namespace stator::cli {
namespace {

TEST(Suggestion, IsTheNearestWord) {
  const std::vector<std::string> words = {"serve", "query", "scan", "--table", "--json"};
  EXPECT_EQ(nearest("serv", words), "serve");
  EXPECT_EQ(nearest("qurey", words), "query");
  EXPECT_EQ(nearest("--tabel", words), "--table");
  EXPECT_EQ(nearest("--jsno", words), "--json");
  EXPECT_EQ(nearest("deploy", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(10'000, 's'), words), "");
}

TEST(ProgressText, HasPercentageRateAndRemainingTime) {
  using std::chrono::duration;
  EXPECT_EQ(progress_text("export", ProgressUnit::kItems, 450, 1000, 400, duration<double>(4.0)),
            "export: 45%, 100 per second, 6s left");
  EXPECT_EQ(progress_text("export", ProgressUnit::kItems, 450, 1000, 400, duration<double>(0.5)),
            "export: 45%");
  EXPECT_EQ(progress_text("import", ProgressUnit::kItems, 450, 0, 450, duration<double>(2.0)),
            "import: 450, 225 per second");
  EXPECT_EQ(progress_text("export", ProgressUnit::kItems, 1200, 1000, 100, duration<double>(1.0)),
            "export: 100%, 100 per second");
  EXPECT_EQ(progress_text("backup", ProgressUnit::kBytes, 5'000'000, 10'000'000, 5'000'000,
                          duration<double>(2.0)),
            "backup: 50%, 2.5 MB per second, 2s left");
}

}  // namespace
}  // namespace stator::cli
