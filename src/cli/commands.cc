// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include "cli/examples.h"

namespace stator::cli {

void add_commands(CLI::App& app, Invocation& invocation) {
  add_serve(app, invocation);
  add_health(app, invocation);
  add_test_mode(app, invocation);
  add_tables(app, invocation);
  add_describe(app, invocation);
  add_get(app, invocation);
  add_put(app, invocation);
  add_delete(app, invocation);
  add_query(app, invocation);
  add_scan(app, invocation);
  add_search(app, invocation);
  add_sql(app, invocation);
  add_shell(app, invocation);
  add_bench(app, invocation);
  add_apply(app, invocation);
  add_toggle(app, invocation);
  add_lock(app, invocation);
  add_feed(app, invocation);
  add_sensor(app, invocation);
  add_export(app, invocation);
  add_import(app, invocation);
  add_copy(app, invocation);
  add_backup(app, invocation);
  add_restore(app, invocation);
  add_verify(app, invocation);
  add_recover(app, invocation);
  add_cluster(app, invocation);
  add_policy(app, invocation);
  add_completion(app, invocation);
  add_examples(app);
}

}  // namespace stator::cli
