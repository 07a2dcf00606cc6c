// SPDX-License-Identifier: Apache-2.0
#include "server/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace stator::server {

void log_error(std::string text) {
  constexpr std::size_t kBytesMax = 2000;
  static const auto logger = spdlog::stderr_logger_mt("stator");
  text.resize(std::min(text.size(), kBytesMax));
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  logger->error("{}", text);
}

}  // namespace stator::server
