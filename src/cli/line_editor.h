// SPDX-License-Identifier: Apache-2.0
// LineEditor: reads lines that a person types, with editing, history and completion.
//
// On a terminal, libedit does this if it is installed. It is loaded when the first editor is
// created, like libcurl (docs/decisions/0007). Otherwise, lines are read without editing.
// Thread safety: one editor at a time, on one thread.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stator::cli {

class LineEditor {
 public:
  // Returns the completions of `word`, the word before the cursor.
  using Complete = std::function<std::vector<std::string>(std::string_view word)>;

  // `history` is a file that only its owner can read; empty: none.
  LineEditor(Complete complete, std::filesystem::path history);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  ~LineEditor();  // saves the history

  // The next line, without its end; std::nullopt at the end of the input. Prompts on a terminal.
  std::optional<std::string> read(const std::string& prompt);

 private:
  std::filesystem::path history_;
};

}  // namespace stator::cli
