// SPDX-License-Identifier: Apache-2.0
// libpq, loaded when a process opens its first connection to PostgreSQL. It depends on libraries
// that a server with local files does not need (docs/decisions/0007).
#pragma once

#include <libpq-fe.h>

#include "stator/result.h"

namespace stator::postgres {

// libpq's functions, named after its own.
struct LibpqLibrary {
  decltype(&::PQbackendPID) backend_pid;
  decltype(&::PQclear) clear;
  decltype(&::PQconnectdbParams) connect;
  decltype(&::PQconninfoFree) free_options;
  decltype(&::PQconninfoParse) parse_options;
  decltype(&::PQconsumeInput) consume_input;
  decltype(&::PQenterPipelineMode) enter_pipeline_mode;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQfinish) finish;
  decltype(&::PQflush) flush;
  decltype(&::PQfreemem) free_memory;
  decltype(&::PQgetResult) get_result;
  decltype(&::PQgetisnull) is_null;
  decltype(&::PQgetlength) length;
  decltype(&::PQgetvalue) value;
  decltype(&::PQhost) host;
  decltype(&::PQisBusy) is_busy;
  decltype(&::PQnfields) column_count;
  decltype(&::PQntuples) row_count;
  decltype(&::PQpipelineSync) pipeline_sync;
  decltype(&::PQport) port;
  decltype(&::PQresultErrorField) error_field;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQsendPrepare) send_prepare;
  decltype(&::PQsendQuery) send_query;
  decltype(&::PQsendQueryPrepared) send_prepared;
  decltype(&::PQsetNoticeReceiver) set_notice_receiver;
  decltype(&::PQsetnonblocking) set_nonblocking;
  decltype(&::PQsocket) socket;
  decltype(&::PQstatus) status;
};

// Loads libpq once. Thread safety: any thread. Errors: kIo if it is not installed.
Result<void> load_libpq();
// Call only after load_libpq() has succeeded.
const LibpqLibrary& libpq();

}  // namespace stator::postgres
