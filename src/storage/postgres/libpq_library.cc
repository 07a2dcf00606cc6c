// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/libpq_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace stator::postgres {
namespace {

constexpr const char* kLibrary = "libpq.so.5";

struct LoadedLibpq {
  LibpqLibrary library = {};
  std::string complaint;  // empty if it is loaded
};

// The library stays loaded: OpenSSL's state outlives a handle.
LoadedLibpq load() {
  LoadedLibpq loaded;
  const auto complain = [&] {
    const char* const reason = dlerror();
    loaded.complaint = reason == nullptr ? "a symbol is missing" : reason;
  };
  void* const handle = dlopen(kLibrary, RTLD_NOW);
  if (handle == nullptr) {
    complain();
    return loaded;
  }
  const auto find = [&]<class Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr) complain();
  };
  LibpqLibrary& library = loaded.library;
  find(library.backend_pid, "PQbackendPID");
  find(library.clear, "PQclear");
  find(library.connect, "PQconnectdbParams");
  find(library.free_options, "PQconninfoFree");
  find(library.parse_options, "PQconninfoParse");
  find(library.consume_input, "PQconsumeInput");
  find(library.enter_pipeline_mode, "PQenterPipelineMode");
  find(library.error_message, "PQerrorMessage");
  find(library.finish, "PQfinish");
  find(library.flush, "PQflush");
  find(library.free_memory, "PQfreemem");
  find(library.get_result, "PQgetResult");
  find(library.is_null, "PQgetisnull");
  find(library.length, "PQgetlength");
  find(library.value, "PQgetvalue");
  find(library.host, "PQhost");
  find(library.is_busy, "PQisBusy");
  find(library.column_count, "PQnfields");
  find(library.row_count, "PQntuples");
  find(library.pipeline_sync, "PQpipelineSync");
  find(library.port, "PQport");
  find(library.error_field, "PQresultErrorField");
  find(library.result_status, "PQresultStatus");
  find(library.send_prepare, "PQsendPrepare");
  find(library.send_query, "PQsendQuery");
  find(library.send_prepared, "PQsendQueryPrepared");
  find(library.set_notice_receiver, "PQsetNoticeReceiver");
  find(library.set_nonblocking, "PQsetnonblocking");
  find(library.socket, "PQsocket");
  find(library.status, "PQstatus");
  return loaded;
}

const LoadedLibpq& loaded_libpq() {
  static const LoadedLibpq once = load();
  return once;
}

}  // namespace

Result<void> load_libpq() {
  const std::string& complaint = loaded_libpq().complaint;
  if (complaint.empty()) return {};
  return fail(Code::kIo,
              fmt::format("could not load {}: {}; install libpq 14 or later", kLibrary, complaint));
}

const LibpqLibrary& libpq() {
  return loaded_libpq().library;
}

}  // namespace stator::postgres
