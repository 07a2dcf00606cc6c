// SPDX-License-Identifier: Apache-2.0
#include "api/model/responses.h"

namespace stator {

std::string cancellation_message(const std::vector<CancellationReason>& reasons) {
  std::string text =
      "Transaction cancelled, please refer cancellation reasons for specific reasons [";
  for (const CancellationReason& reason : reasons) {
    if (!text.ends_with('[')) text += ", ";
    text += reason.code;
  }
  return text + "]";
}

}  // namespace stator
