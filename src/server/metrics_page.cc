// SPDX-License-Identifier: Apache-2.0
#include "server/metrics_page.h"

#include <cstdint>

#include "metrics/text.h"
#include "server/process_stats.h"

namespace stator::server {
namespace {

using metrics::Text;

void write_http(const http::ServerStats& http, Text& text) {
  text.gauge("stator_connections", "Open connections.", uint64_t{http.connections});
  text.gauge("stator_connections_max", "Connections from which on idle ones are closed.",
             uint64_t{http.connections_max});
  text.gauge("stator_requests_in_progress", "Requests in progress.",
             uint64_t{http.requests_in_progress});
  text.gauge("stator_held_memory_bytes",
             "Memory of requests, responses and the handling of large requests.",
             uint64_t{http.held_bytes});
  text.gauge("stator_held_memory_max_bytes", "The bound of this memory.",
             uint64_t{http.held_bytes_max});
  text.gauge("stator_large_request_queue_length", "Large requests that wait for a thread.",
             uint64_t{http.side_queue_length});
  text.gauge("stator_large_bodies_waiting", "Large requests that wait for memory to be received.",
             uint64_t{http.bodies_waiting});
}

void write_shared_store(const SharedStoreStats& stats, Text& text) {
  text.gauge("stator_stream_horizon_lag_seconds",
             "Time for which one transaction of the database has held back all streams.",
             static_cast<double>(stats.horizon_lag.count()) / 1000);
  const auto gauge = [&](std::string_view name, std::string_view help,
                         uint64_t ConnectionPoolStats::* value) {
    text.gauge(name, help);
    for (const ConnectionPoolStats& pool : stats.pools) {
      text.sample({{"pool", pool.name}}, pool.*value);
    }
  };
  gauge("stator_database_connections", "Connections to the database that a pool may open.",
        &ConnectionPoolStats::connections);
  gauge("stator_database_connections_busy", "Of these, connections that a call uses.",
        &ConnectionPoolStats::busy);
  gauge("stator_database_queue_length", "Calls that wait for a connection.",
        &ConnectionPoolStats::queued_calls);
  text.gauge("stator_database_info", "1; the label is the address of the database.");
  text.sample({{"address", stats.address}}, uint64_t{1});
}

void write_store(Engine& engine, bool stopping, Text& text) {
  const StoreStats stats = engine.store().stats();
  const bool writable = engine.health().writable;
  text.gauge("stator_ready", "1 if GET /health/ready returns 200.",
             uint64_t{writable && !stopping ? 1U : 0U});
  text.gauge("stator_store_writable", "1 if the store takes writes.", uint64_t{writable ? 1U : 0U});
  text.counter("stator_commits_total", "Commits that the disk took or refused.", stats.commits);
  text.counter("stator_commit_groups_total", "Groups in which commits were written.",
               stats.commit_groups);
  text.counter("stator_syncs_total", "Writes that were synced to the disk.", stats.syncs);
  text.gauge("stator_commit_queue_length", "Commits that wait for the disk.", stats.queued_commits);
  text.gauge("stator_commit_queue_bytes", "Bytes of commits that wait for the disk or are written.",
             stats.queued_bytes);
  text.gauge("stator_commit_queue_max_bytes", "Bytes from which on writes are throttled.",
             stats.queued_bytes_max);
  text.gauge("stator_cache_bytes", "Data of the directory that is kept in memory.",
             stats.cache_bytes);
  text.gauge("stator_cache_max_bytes", "The bound of this data.", stats.cache_bytes_max);
  text.gauge("stator_write_buffer_bytes", "Rows that are not yet in files.",
             stats.write_buffer_bytes);
  text.gauge("stator_table_file_bytes", "Files of rows on the disk.", stats.file_bytes);
  text.gauge("stator_pending_compaction_bytes", "Files that wait to be compacted, estimated.",
             stats.pending_compaction_bytes);
  if (stats.shared) write_shared_store(*stats.shared, text);
}

void write_engine(const EngineStats& stats, Text& text) {
  text.gauge("stator_tables", "Tables.", uint64_t{stats.tables});
  text.gauge("stator_jobs", "Backups, imports, exports, index fills and the like in progress.",
             uint64_t{stats.jobs});
  text.gauge("stator_failing_jobs", "Jobs whose last step failed and is tried again.",
             uint64_t{stats.failing_jobs});
  text.gauge("stator_oldest_job_seconds", "Age of the oldest job, since it began or resumed.",
             static_cast<double>(stats.oldest_job.count()) / 1000);
  text.gauge("stator_vector_cache_bytes", "Vectors in memory that are searched often.",
             uint64_t{stats.vector_cache_bytes});
  text.gauge("stator_vector_cache_max_bytes", "The bound of these.",
             uint64_t{stats.vector_cache_bytes_max});
  text.gauge("stator_vector_graph_rows", "Vectors in graphs, for approximate searches.",
             uint64_t{stats.vector_graph_rows});
  text.gauge("stator_vector_graph_builds", "Graphs that are being built.",
             uint64_t{stats.vector_graph_builds});
}

double seconds_of(std::chrono::system_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void write_process(const MetricsSources& sources, Text& text) {
  text.counter("stator_dropped_log_lines_total",
               "Lines that the logs of requests, slow requests and decisions did not take.",
               sources.dropped_log_lines);
  const ProcessStats stats = process_stats();
  text.gauge("process_resident_memory_bytes", "Memory of the process.", stats.resident_bytes);
  text.counter("process_cpu_seconds_total", "Processor time.", stats.cpu_seconds);
  text.gauge("process_open_fds", "Open file descriptors.", stats.open_files);
  text.gauge("process_max_fds", "File descriptors that the process may open.",
             stats.open_files_max);
  text.gauge("process_start_time_seconds", "Start of the server, in Unix time.",
             seconds_of(sources.start.time_since_epoch()));
  text.gauge("stator_uptime_seconds", "Time since the start of the server.",
             seconds_of(std::chrono::system_clock::now() - sources.start));
  text.gauge("stator_build_info", "Always 1; the label is Stator's version.");
  text.sample({{"version", sources.version}}, uint64_t{1});
}

}  // namespace

std::string metrics_page(const MetricsSources& sources) {
  Text text;
  sources.requests.write(text);
  write_http(sources.http, text);
  write_store(sources.engine, sources.stopping, text);
  write_engine(sources.engine.stats(), text);
  write_process(sources, text);
  return std::move(text).finish();
}

}  // namespace stator::server
