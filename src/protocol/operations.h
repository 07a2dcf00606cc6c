// SPDX-License-Identifier: Apache-2.0
// The API's operations by name: they take a request's JSON and return the response's JSON or an
// Error.
//
// An operation is one entry of kDynamoDb or kStreams: its name and the engine's method. The types
// of the method determine the reader of the request and the writer of the response
// (api/wire/wire.h).
// Thread safety: as Engine. On a store of one process, reads respond on the calling thread, except
// vector searches, which run on `searching`. On a shared store, reads respond on a thread of the
// store or of the engine. Writes respond when they are durable, on the thread that committed them.
// Operations that block run on `waiting`. If a worker is null, they run on the calling thread.
// Lifetime: the body and `access` are borrowed only during the call. The engine, both workers,
// `test_mode` and the text of `operation` must outlive every request in progress.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations.html
#pragma once

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "access/authorize.h"
#include "api/admin/document.h"
#include "api/wire/wire.h"
#include "engine/admin/administration.h"
#include "engine/background/worker.h"
#include "engine/engine.h"
#include "protocol/facts.h"
#include "testmode/test_mode.h"

namespace stator::protocol {

inline constexpr std::string_view kDynamoDbPrefix = "DynamoDB_20120810.";
inline constexpr std::string_view kStreamsPrefix = "DynamoDBStreams_20120810.";

// The X-Amz-Target of an operation: one of DynamoDB's, or of DynamoDB Streams'.
std::string target_of(std::string_view operation);

// As in DynamoDB, the error has no message.
inline Error unknown_operation() {
  return {.code = Code::kUnknownOperation, .message = ""};
}

struct Context {
  Engine& engine;
  Worker* waiting;              // can be null
  Worker* searching = nullptr;  // as `waiting`, for searches of vectors
  // The caller's rights. Null: all rights.
  const access::Access* access = nullptr;
  std::string_view operation = {};          // the name; needed with `access` and `test_mode` only
  testmode::TestMode* test_mode = nullptr;  // null: off
};

// Operations that respond by calling a `Respond` with a Result<std::string>, once, from any thread.
// If the Respond is destroyed without a call, there was no memory for a response, or the worker was
// stopped. Its optional members:
// - `later` is called instead by threads of the store, with a function that makes the Result, so
//   that these threads do not write JSON.
// - `note_table` and `note_items` are called before the response, with facts about the request and
//   the result (facts.h); `note_batch` for a batch or transaction; `report_examined` for a
//   statement that read.
// - `inject`, required in test mode, takes the request's Injection and keeps it as the member
//   `injection`.
// A template, so that no response of the hot path is wrapped into a second function object.
template <class Respond>
class Operations {
 public:
  using Run = void (*)(const Context& context, std::string_view body, Respond respond);

  struct Operation {
    std::string_view name;
    Run run;
  };

  // Null if the operation does not exist. The target is the value of X-Amz-Target.
  static const Operation* find_target(std::string_view target) {
    if (target.starts_with(kDynamoDbPrefix)) {
      return find(kDynamoDb, target.substr(kDynamoDbPrefix.size()));
    }
    if (target.starts_with(kStreamsPrefix)) {
      return find(kStreams, target.substr(kStreamsPrefix.size()));
    }
    return nullptr;
  }
  static Run find(std::string_view name) {
    const Operation* found = find(kDynamoDb, name);
    if (found == nullptr) found = find(kStreams, name);
    return found == nullptr ? nullptr : found->run;
  }

  // Returns the operation's index in names(), the same in every process of this version.
  static std::size_t index_of(const Operation& operation) {
    const bool of_streams =
        std::ranges::any_of(kStreams, [&](const Operation& other) { return &other == &operation; });
    return of_streams ? kDynamoDb.size() + static_cast<std::size_t>(&operation - kStreams.data())
                      : static_cast<std::size_t>(&operation - kDynamoDb.data());
  }
  static std::span<const std::string_view> names() { return kNames; }

 private:
  template <class Request>
  static void note_request(Respond& respond, const Request& request) {
    if constexpr (requires { respond.note_table(table_in(request), index_in(request)); }) {
      respond.note_table(table_in(request), index_in(request));
    }
    if constexpr (requires { respond.note_batch(std::size_t{}); }) {
      if (const auto size = batch_size_in(request)) respond.note_batch(*size);
    }
  }
  // Runs before the engine sees the request, so that a denial reveals nothing about the tables.
  template <class Request>
  static Result<void> check_access(const Context& context, const Request& request, bool may_wait) {
    if (context.access == nullptr) return {};
    return access::authorize(*context.access, {context.engine, may_wait}, request);
  }
  static Result<void> check_access(const Context& context, const Item& request, bool may_wait) {
    if (context.access == nullptr) return {};
    return access::authorize(*context.access, {context.engine, may_wait}, context.operation,
                             request);
  }
  template <class Output>
  static void note_result(Respond& respond, const Result<Output>& result) {
    if constexpr (requires { respond.note_items(std::size_t{}, std::size_t{}); }) {
      if (result) respond.note_items(items_in(*result), examined_in(*result));
    }
    if constexpr (requires { respond.report_examined(*result->examined); }) {
      if (result && result->examined) respond.report_examined(*result->examined);
    }
  }

  template <class Output>
  static Result<std::string> written(const Result<Output>& result) {
    if (!result) return Failure(result.error());
    return wire::to_json(*result);
  }

  // Called on a thread of the store.
  template <class Output>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): moved from if it is written later
  static void finish(Respond& respond, Result<Output> result) {
    amend(respond, result);
    note_result(respond, result);
    if constexpr (requires { respond.later([] { return Result<std::string>(); }); }) {
      respond.later([kept = std::move(result)] { return written(kept); });
    } else {
      respond(written(result));
    }
  }

  template <class Output>
  static void amend(Respond& respond, Result<Output>& result) {
    if constexpr (requires { respond.injection->amend(result); }) {
      if (respond.injection) respond.injection->amend(result);
    }
  }

  // Calls `next(Request, Respond)`, unless test mode refuses the request.
  template <class Request, class Next>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): moved from if `next` keeps it
  static void run_allowed(const Context& context, Request request, Respond respond, Next& next) {
    if constexpr (requires { respond.inject(std::unique_ptr<testmode::Injection>()); }) {
      if (context.test_mode != nullptr) {
        auto injection = context.test_mode->on_request(context.operation, request);
        std::optional<Error> refusal = std::move(injection->refusal);
        respond.inject(std::move(injection));
        if (refusal) return respond(Failure(std::move(*refusal)));
      }
    }
    next(std::move(request), std::move(respond));
  }

  // Runs `respond_to`, which takes the Respond and can wait, on `waiting`.
  template <class F>
  static void run_apart(const Context& context, Respond respond, F respond_to) {
    if (context.waiting == nullptr) return respond_to(respond);
    context.waiting->post([kept = std::move(respond), run = std::move(respond_to)]() mutable {
      try {
        run(kept);
      } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
        // Out of memory: `kept` is dropped.
      }
    });
  }

  // Calls `next(Request, Respond)` if the request is valid and allowed; otherwise responds with the
  // error. If the store must be read to check the caller's rights, does this on `waiting`.
  template <class Request, class Next>
  static void when_allowed(const Context& context, Result<Request> request, Respond respond,
                           Next next) {
    if (!request) return respond(failure_of(std::move(request)));
    note_request(respond, *request);
    auto allowed = check_access(context, *request, /*may_wait=*/context.waiting == nullptr);
    if (allowed) return run_allowed(context, std::move(*request), std::move(respond), next);
    if (allowed.error().code != access::kMustWait) return respond(failure_of(std::move(allowed)));
    run_apart(context, std::move(respond),
              [own = Context(context), access = *context.access, kept = std::move(*request),
               next = std::move(next)](Respond& to) mutable {
                own.access = &access;
                auto known = check_access(own, kept, /*may_wait=*/true);
                if (!known) return to(failure_of(std::move(known)));
                run_allowed(own, std::move(kept), std::move(to), next);
              });
  }

  template <auto method>
  struct Method;
  template <class Output, class Request, Result<Output> (Engine::*method)(const Request&)>
  struct Method<method> {
    static void inlined(const Context& context, std::string_view body, Respond respond) {
      if (context.engine.is_shared()) return offloaded(context, body, std::move(respond));
      when_allowed(context, wire::read_request<Request>(body), std::move(respond),
                   [&engine = context.engine](const Request& request, Respond to) {
                     run(engine, request, to);
                   });
    }

    static void offloaded(const Context& context, std::string_view body, Respond respond) {
      when_allowed(context, wire::read_request<Request>(body), std::move(respond),
                   [context](Request request, Respond to) {
                     run_apart(context, std::move(to),
                               [&engine = context.engine, kept = std::move(request)](
                                   Respond& last) { run(engine, kept, last); });
                   });
    }

   private:
    static void run(Engine& engine, const Request& request, Respond& respond) {
      auto result = (engine.*method)(request);
      amend(respond, result);
      note_result(respond, result);
      respond(written(result));
    }
  };
  template <class Output, class Request, void (Engine::*method)(const Request&, Done<Output>)>
  struct Method<method> {
    static void read(const Context& context, std::string_view body, Respond respond) {
      when_allowed(context, wire::read_request<Request>(body), std::move(respond),
                   [&engine = context.engine](Request&& request, Respond&& to) {
                     if (engine.is_shared()) return keep(engine, std::move(request), std::move(to));
                     (engine.*method)(request, [&to](Result<Output>&& result) {
                       amend(to, result);
                       note_result(to, result);
                       to(written(result));
                     });
                   });
    }

    static void read_apart(const Context& context, std::string_view body, Respond respond) {
      when_allowed(context, wire::read_request<Request>(body), std::move(respond),
                   [context](Request&& request, Respond&& to) {
                     Engine& engine = context.engine;
                     if (engine.is_shared()) return keep(engine, std::move(request), std::move(to));
                     Context apart = context;
                     apart.waiting = context.searching;
                     run_apart(apart, std::move(to),
                               [&engine, kept = std::move(request)](Respond& last) {
                                 (engine.*method)(kept, [&last](Result<Output>&& result) {
                                   amend(last, result);
                                   note_result(last, result);
                                   last(written(result));
                                 });
                               });
                   });
    }

    static void write(const Context& context, std::string_view body, Respond respond) {
      when_allowed(context, wire::read_request<Request>(body), std::move(respond),
                   [&engine = context.engine](Request&& request, Respond&& to) {
                     if (engine.is_shared()) return keep(engine, std::move(request), std::move(to));
                     (engine.*method)(request, Finish{std::move(to)});
                   });
    }

   private:
    // Responds, perhaps on a thread of the store.
    struct Finish {
      Respond respond;
      std::unique_ptr<const Request> borrowed = {};  // by the engine, if its store is shared

      void operator()(Result<Output> result) {
        try {
          finish(respond, std::move(result));
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
          // Out of memory on a thread of the store: `respond` is dropped.
        }
      }
    };

    static void keep(Engine& engine, Request&& request, Respond&& respond) {
      auto kept = std::make_unique<const Request>(std::move(request));
      const Request& borrowed = *kept;
      (engine.*method)(borrowed, Finish{std::move(respond), std::move(kept)});
    }
  };

  // An administrative operation.
  template <const admin::Operation& operation>
  static void document(const Context& context, std::string_view body, Respond respond) {
    when_allowed(context, wire::read_document(body, operation.request), std::move(respond),
                 [context](Item request, Respond to) {
                   run_apart(context, std::move(to),
                             [&engine = context.engine, kept = std::move(request)](Respond& last) {
                               auto result = engine.administer(operation, kept);
                               amend(last, result);
                               if (!result) return last(Failure(result.error()));
                               last(operation.has_output ? wire::document_to_json(*result) : "");
                             });
                 });
  }

  // How a method runs. None waits on the calling thread for a network.
  template <auto method>  // returns; on `waiting` if the store is shared
  static constexpr Run kInline = Method<method>::inlined;
  template <auto method>  // waits for the disk, on `waiting`
  static constexpr Run kOffloaded = Method<method>::offloaded;
  template <auto method>  // calls back; within the call unless the store is shared
  static constexpr Run kRead = Method<method>::read;
  template <auto method>  // as kRead, but takes long: on `searching` unless the store is shared
  static constexpr Run kLongRead = Method<method>::read_apart;
  template <auto method>  // calls back
  static constexpr Run kAsync = Method<method>::write;

  // Ordered by name.
  static constexpr auto kDynamoDb = std::to_array<Operation>({
      {"BatchExecuteStatement", kAsync<&Engine::batch_execute_statement>},
      {"BatchGetItem", kRead<&Engine::batch_get_item>},
      {"BatchWriteItem", kAsync<&Engine::batch_write_item>},
      {"CancelBulkOperation", document<admin::kCancelBulkOperation>},
      {"CreateBackup", document<admin::kCreateBackup>},
      {"CreateGlobalTable", document<admin::kCreateGlobalTable>},
      {"CreateTable", kOffloaded<&Engine::create_table>},
      {"DeleteBackup", document<admin::kDeleteBackup>},
      {"DeleteItem", kAsync<&Engine::delete_item>},
      {"DeleteResourcePolicy", document<admin::kDeleteResourcePolicy>},
      {"DeleteTable", kOffloaded<&Engine::delete_table>},
      {"DescribeBackup", document<admin::kDescribeBackup>},
      {"DescribeBulkOperation", document<admin::kDescribeBulkOperation>},
      {"DescribeContinuousBackups", document<admin::kDescribeContinuousBackups>},
      {"DescribeContributorInsights", document<admin::kDescribeContributorInsights>},
      {"DescribeEndpoints", document<admin::kDescribeEndpoints>},
      {"DescribeExport", document<admin::kDescribeExport>},
      {"DescribeGlobalTable", document<admin::kDescribeGlobalTable>},
      {"DescribeGlobalTableSettings", document<admin::kDescribeGlobalTableSettings>},
      {"DescribeImport", document<admin::kDescribeImport>},
      {"DescribeKinesisStreamingDestination",
       document<admin::kDescribeKinesisStreamingDestination>},
      {"DescribeLimits", document<admin::kDescribeLimits>},
      {"DescribeTable", kInline<&Engine::describe_table>},
      {"DescribeTableReplicaAutoScaling", document<admin::kDescribeTableReplicaAutoScaling>},
      {"DescribeTimeToLive", kInline<&Engine::describe_time_to_live>},
      {"DisableKinesisStreamingDestination", document<admin::kDisableKinesisStreamingDestination>},
      {"EnableKinesisStreamingDestination", document<admin::kEnableKinesisStreamingDestination>},
      {"ExecuteStatement", kAsync<&Engine::execute_statement>},
      {"ExecuteTransaction", kAsync<&Engine::execute_transaction>},
      {"ExportTableToPointInTime", document<admin::kExportTableToPointInTime>},
      {"GetItem", kRead<&Engine::get_item>},
      {"GetResourcePolicy", document<admin::kGetResourcePolicy>},
      {"ImportTable", document<admin::kImportTable>},
      {"ListBackups", document<admin::kListBackups>},
      {"ListBulkOperations", document<admin::kListBulkOperations>},
      {"ListContributorInsights", document<admin::kListContributorInsights>},
      {"ListExports", document<admin::kListExports>},
      {"ListGlobalTables", document<admin::kListGlobalTables>},
      {"ListImports", document<admin::kListImports>},
      {"ListTables", kInline<&Engine::list_tables>},
      {"ListTagsOfResource", document<admin::kListTagsOfResource>},
      {"PutItem", kAsync<&Engine::put_item>},
      {"PutResourcePolicy", document<admin::kPutResourcePolicy>},
      {"Query", kRead<&Engine::query>},
      {"RestoreTableFromBackup", document<admin::kRestoreTableFromBackup>},
      {"RestoreTableToPointInTime", document<admin::kRestoreTableToPointInTime>},
      {"Scan", kRead<&Engine::scan>},
      {"SearchVectors", kLongRead<&Engine::search_vectors>},
      {"StartBulkPutItems", document<admin::kStartBulkPutItems>},
      {"TagResource", document<admin::kTagResource>},
      {"TransactGetItems", kRead<&Engine::transact_get_items>},
      {"TransactWriteItems", kAsync<&Engine::transact_write_items>},
      {"UntagResource", document<admin::kUntagResource>},
      {"UpdateContinuousBackups", document<admin::kUpdateContinuousBackups>},
      {"UpdateContributorInsights", document<admin::kUpdateContributorInsights>},
      {"UpdateGlobalTable", document<admin::kUpdateGlobalTable>},
      {"UpdateGlobalTableSettings", document<admin::kUpdateGlobalTableSettings>},
      {"UpdateItem", kAsync<&Engine::update_item>},
      {"UpdateKinesisStreamingDestination", document<admin::kUpdateKinesisStreamingDestination>},
      {"UpdateTable", kOffloaded<&Engine::update_table>},
      {"UpdateTableReplicaAutoScaling", document<admin::kUpdateTableReplicaAutoScaling>},
      {"UpdateTimeToLive", kOffloaded<&Engine::update_time_to_live>},
  });
  static_assert(std::ranges::is_sorted(kDynamoDb, {}, &Operation::name));

  // Ordered by name.
  static constexpr auto kStreams = std::to_array<Operation>({
      {"DescribeStream", kInline<&Engine::describe_stream>},
      {"GetRecords", kRead<&Engine::get_records>},
      {"GetShardIterator", kOffloaded<&Engine::get_shard_iterator>},
      {"ListStreams", kInline<&Engine::list_streams>},
  });
  static_assert(std::ranges::is_sorted(kStreams, {}, &Operation::name));

  static constexpr auto kNames = [] {
    std::array<std::string_view, kDynamoDb.size() + kStreams.size()> names;
    std::size_t count = 0;
    for (const Operation& operation : kDynamoDb) names[count++] = operation.name;
    for (const Operation& operation : kStreams) names[count++] = operation.name;
    return names;
  }();

  static const Operation* find(std::span<const Operation> operations, std::string_view name) {
    const auto found = std::ranges::lower_bound(operations, name, {}, &Operation::name);
    return found != operations.end() && found->name == name ? &*found : nullptr;
  }
};

}  // namespace stator::protocol
