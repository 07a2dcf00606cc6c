// SPDX-License-Identifier: Apache-2.0
// The manual pages of the program, as man prints them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/stator_program.h"
#include "support/read_file.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Manual : public ::testing::Test {
 protected:
  Manual() { EXPECT_THAT(run_stator({"__manual", directory_.path().string()}), Prints("")); }

  std::vector<std::string> pages() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  std::string source(const std::string& page) const { return read_file(directory_.path() / page); }
  // Renders a page. Warnings of troff are on standard error.
  Ran rendered(const std::string& page) const {
    Process man({"env", "LC_ALL=C", "MANWIDTH=300", "man", "--warnings", "--no-hyphenation",
                 "--no-justification", "--local-file", (directory_.path() / page).string()});
    Ran ran{.status = man.wait()};
    ran.out = man.out();
    ran.err = man.err();
    return ran;
  }

 private:
  TempDir directory_;
};

TEST_F(Manual, HasAPageForEachCommandThatHelpLists) {
  const std::string help = run_stator({"--help"}).out;
  const std::string index = rendered("stator.1").out;
  const std::vector<std::string> all = pages();
  ASSERT_GE(all.size(), 20U);
  for (const std::string& page : all) {
    if (page == "stator.1") continue;
    const std::string name = page.substr(0, page.size() - 2);
    EXPECT_THAT(help, HasSubstr("\n  " + name.substr(name.find('-') + 1) + " "));
    EXPECT_THAT(index, HasSubstr("\n       " + name + "(1)\n"));
  }
  EXPECT_EQ(all.size() - 1,
            static_cast<std::size_t>(
                std::ranges::count(help.substr(help.find("Subcommands:\n")), '\n') - 3));
}

TEST_F(Manual, IsRenderedWithoutWarnings) {
  for (const std::string& page : pages()) {
    const Ran ran = rendered(page);
    EXPECT_EQ(ran.status, 0) << page;
    EXPECT_THAT(ran.err, IsEmpty()) << page;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("\nNAME\n"), HasSubstr("\nSYNOPSIS\n"),
                               HasSubstr("\nEXIT STATUS\n")))
        << page;
    const std::string text = source(page);
    EXPECT_THAT(std::vector<unsigned char>(text.begin(), text.end()), Each(::testing::Lt(128)))
        << page;
  }
}

TEST_F(Manual, ShowsOptionsWithTheirDefaultsAndExamplesAsTyped) {
  EXPECT_THAT(rendered("stator-serve.1").out,
              AllOf(HasSubstr("--data DIR\n"),
                    HasSubstr("Data directory, created if missing.  Default: ./stator-data.  Not "
                              "together with --memory.  Not together with --store.\n"),
                    HasSubstr("\nEXAMPLES\n       stator serve --data /var/lib/stator")));
  EXPECT_THAT(rendered("stator-lock.1").out,
              AllOf(HasSubstr("stator lock run [OPTION]... name command...\n"),
                    HasSubstr("-E, --conflict-exit-code STATUS\n"), HasSubstr("--endpoint URL\n")));
  EXPECT_THAT(rendered("stator-put.1").out, HasSubstr(R"(stator put Orders '{"customer":"ann",)"));
  EXPECT_THAT(rendered("stator-verify.1").out,
              AllOf(HasSubstr("EXIT STATUS\n       0 if nothing is wrong, otherwise 1.\n"),
                    Not(HasSubstr("Exit status"))));
}

TEST(ManualPages, NeedADirectory) {
  expect_refusal({"__manual", "/nonexistent"}, 1, "'/nonexistent/stator-apply.1'");
}

}  // namespace
}  // namespace stator::test
