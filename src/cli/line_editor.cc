// SPDX-License-Identifier: Apache-2.0
#include "cli/line_editor.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

namespace stator::cli {
namespace {

constexpr const char* kLibrary = "libedit.so.2";
constexpr int kHistoryLinesMax = 1'000;

// libedit's functions that are compatible with GNU Readline.
using Generator = char*(const char* word, int state);
using Completer = char**(const char* word, int start, int end);
struct EditLibrary {
  char* (*readline)(const char* prompt) = nullptr;
  int (*add_history)(const char* line) = nullptr;
  int (*read_history)(const char* file) = nullptr;
  int (*write_history)(const char* file) = nullptr;
  void (*stifle_history)(int lines) = nullptr;
  char** (*matches)(const char* word, Generator* generator) = nullptr;
  Completer** completer = nullptr;
  int* completion_over = nullptr;  // 1: do not complete file names
};

LineEditor::Complete completion;      // of the only editor
std::vector<std::string> candidates;  // of the word that is being completed

// Returns one candidate per call, allocated with malloc for the library to free, then null.
char* next_candidate(const char* word, int state) {
  static std::size_t next = 0;
  if (state == 0) {
    candidates = completion(word);
    next = 0;
  }
  return next < candidates.size() ? strdup(candidates[next++].c_str()) : nullptr;
}

// Null if libedit is not installed, or if standard input or output is not a terminal.
const EditLibrary* edit_library() {
  static const EditLibrary* const loaded = []() -> const EditLibrary* {
    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) return nullptr;
    void* const handle = dlopen(kLibrary, RTLD_NOW);
    if (handle == nullptr) return nullptr;
    static EditLibrary library;
    bool whole = true;
    const auto find = [&](auto& symbol, const char* name) {
      symbol = reinterpret_cast<std::remove_reference_t<decltype(symbol)>>(dlsym(handle, name));
      whole = whole && symbol != nullptr;
    };
    find(library.readline, "readline");
    find(library.add_history, "add_history");
    find(library.read_history, "read_history");
    find(library.write_history, "write_history");
    find(library.stifle_history, "stifle_history");
    find(library.matches, "rl_completion_matches");
    find(library.completer, "rl_attempted_completion_function");
    find(library.completion_over, "rl_attempted_completion_over");
    return whole ? &library : nullptr;
  }();
  return loaded;
}

char** complete_word(const char* word, int /*start*/, int /*end*/) {
  *edit_library()->completion_over = 1;
  return edit_library()->matches(word, next_candidate);
}

}  // namespace

LineEditor::LineEditor(Complete complete, std::filesystem::path history)
    : history_(std::move(history)) {
  completion = std::move(complete);
  const EditLibrary* library = edit_library();
  if (library == nullptr) return;
  *library->completer = complete_word;
  library->stifle_history(kHistoryLinesMax);
  if (!history_.empty()) library->read_history(history_.c_str());
}

LineEditor::~LineEditor() {
  completion = nullptr;
  const EditLibrary* library = edit_library();
  if (library == nullptr || history_.empty()) return;
  std::error_code unknown;
  std::filesystem::create_directories(history_.parent_path(), unknown);
  const mode_t before = umask(S_IRWXG | S_IRWXO);
  library->write_history(history_.c_str());
  umask(before);
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  if (const EditLibrary* library = edit_library()) {
    char* const typed = library->readline(prompt.c_str());
    if (typed == nullptr) return std::nullopt;
    std::string line(typed);
    std::free(typed);
    if (!line.empty()) library->add_history(line.c_str());
    return line;
  }
  if (isatty(STDIN_FILENO) == 1) std::cout << prompt << std::flush;
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

}  // namespace stator::cli
