// SPDX-License-Identifier: Apache-2.0
// Console: the web pages at /console/, from files embedded in the binary.
//
// Thread safety: any thread.
// Security: the files contain no data, so requests for them need no signature. The page sends the
// same requests to `/` as every other client. The content security policy allows only files of the
// same server, and no script or style inside a page.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "http/server.h"

namespace stator::console {

class Console {
 public:
  // With a directory, for development, reads the content of files from there at each request.
  // Serves only the names of embedded files.
  explicit Console(std::filesystem::path directory = {}) : directory_(std::move(directory)) {}

  // Whether respond() is responsible for a request's target.
  static bool serves(std::string_view target);

  // Returns 404 for unknown names and 405 for methods other than GET and HEAD.
  http::Response respond(const http::Request& request) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace stator::console
