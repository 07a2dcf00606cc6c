// SPDX-License-Identifier: Apache-2.0
// Console: the web pages at /console/, files that the binary contains.
//
// Thread safety: any thread.
// Security: the files hold no data and need no signature. The page sends the same requests to `/`
// as every other client. The content security policy admits nothing but files of the same server,
// and no script or style inside a page.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "http/server.h"

namespace stator::console {

class Console {
 public:
  // With a directory, for development: the content of files comes from there at each request. Their
  // names remain those of the embedded files.
  explicit Console(std::filesystem::path directory = {}) : directory_(std::move(directory)) {}

  // Whether respond() is responsible for a request's target.
  static bool serves(std::string_view target);

  // 404 for other names than those of the files, 405 for other methods than GET and HEAD.
  http::Response respond(const http::Request& request) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace stator::console
