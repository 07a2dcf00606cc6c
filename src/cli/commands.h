// SPDX-License-Identifier: Apache-2.0
// The subcommands of `stator`. add_examples() is in examples.h.
#pragma once

#include "cli/command.h"

namespace stator::cli {

void add_serve(CLI::App& app, Invocation& invocation);
void add_health(CLI::App& app, Invocation& invocation);
void add_test_mode(CLI::App& app, Invocation& invocation);
void add_tables(CLI::App& app, Invocation& invocation);
void add_describe(CLI::App& app, Invocation& invocation);
void add_get(CLI::App& app, Invocation& invocation);
void add_put(CLI::App& app, Invocation& invocation);
void add_delete(CLI::App& app, Invocation& invocation);
void add_query(CLI::App& app, Invocation& invocation);
void add_scan(CLI::App& app, Invocation& invocation);
void add_search(CLI::App& app, Invocation& invocation);
void add_sql(CLI::App& app, Invocation& invocation);
void add_shell(CLI::App& app, Invocation& invocation);
void add_bench(CLI::App& app, Invocation& invocation);
void add_apply(CLI::App& app, Invocation& invocation);
void add_toggle(CLI::App& app, Invocation& invocation);
void add_lock(CLI::App& app, Invocation& invocation);
void add_feed(CLI::App& app, Invocation& invocation);
void add_sensor(CLI::App& app, Invocation& invocation);
void add_export(CLI::App& app, Invocation& invocation);
void add_import(CLI::App& app, Invocation& invocation);
void add_copy(CLI::App& app, Invocation& invocation);
void add_backup(CLI::App& app, Invocation& invocation);
void add_restore(CLI::App& app, Invocation& invocation);
void add_verify(CLI::App& app, Invocation& invocation);
void add_recover(CLI::App& app, Invocation& invocation);
void add_cluster(CLI::App& app, Invocation& invocation);
void add_policy(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);

}  // namespace stator::cli
