// SPDX-License-Identifier: Apache-2.0
// Request ids in DynamoDB's form: 52 characters of 0-9 and A-V.
#pragma once

#include <array>
#include <string_view>

namespace stator::server {

class RequestId {
 public:
  // A new unique id with 240 random bits, which are not secret. Any thread.
  RequestId();
  std::string_view text() const { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 52> text_;
};

}  // namespace stator::server
