// SPDX-License-Identifier: Apache-2.0
// A plugin for clang-tidy 19, which reads all declarations of the system's headers only to drop
// what it finds there. With the check stator-own-code, all checks but those of the static analyzer
// read the project's declarations only. They find the same in a quarter of the time.
#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>
#include <clang/AST/ASTContext.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>

#include <vector>

namespace {

namespace tidy = clang::tidy;
using clang::ast_matchers::MatchFinder;

// The unit as a whole is the first that is matched, before what is in it.
class OwnCode final : public tidy::ClangTidyCheck {
 public:
  using ClangTidyCheck::ClangTidyCheck;
  void registerMatchers(MatchFinder* finder) override {
    finder->addMatcher(clang::ast_matchers::translationUnitDecl().bind("unit"), this);
  }
  void check(const MatchFinder::MatchResult& result) override {
    std::vector<clang::Decl*> own;
    for (clang::Decl* declaration :
         result.Nodes.getNodeAs<clang::TranslationUnitDecl>("unit")->decls()) {
      if (!result.SourceManager->isInSystemHeader(declaration->getLocation()))
        own.push_back(declaration);
    }
    result.Context->setTraversalScope(own);
  }
};

class OwnCodeModule final : public tidy::ClangTidyModule {
 public:
  void addCheckFactories(tidy::ClangTidyCheckFactories& factories) override {
    factories.registerCheck<OwnCode>("stator-own-code");
  }
};

const tidy::ClangTidyModuleRegistry::Add<OwnCodeModule> kRegistered(
    "stator", "reads the project's code only");

}  // namespace
