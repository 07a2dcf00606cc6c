# SPDX-License-Identifier: Apache-2.0
# Stator's commands. Each installs what it needs from Debian's packages first (as root or with sudo).

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
ARGS ?=
# Tests wait for servers and leases as much as they compute.
TEST_JOBS ?= $(shell echo $$((2 * $(JOBS))))
CTEST = ctest --output-on-failure --no-tests=error -j $(TEST_JOBS)

.PHONY: help build run test check bare demo bench differential differential-vectors peers package soak format lint install clean

help:
	@echo "make run      build, then serve the DynamoDB API on http://127.0.0.1:8000 (ARGS=... for flags)"
	@echo "make test     build and pass the quick tests"
	@echo "make check    everything CI runs: test, SDKs, sanitizers, crashes, lint, a bare Debian"
	@echo "make demo     kill -9 while boto3 writes, and the four recipes on real data"
	@echo "make bench    compare with raw RocksDB and a constant-response HTTP server"
	@echo "make differential  100,000 random requests to Stator and DynamoDB Local, compared"
	@echo "make differential-vectors  the same for searches of vectors, with Dynoxide (needs Rust)"
	@echo "make peers    the recipes' suites on DynamoDB Local and dynalite"
	@echo "make bare     the README's commands on a Debian that has only git and make (as root)"
	@echo "make soak     1,000 kill -9 rounds, and all of the README on bare Debian 12 and 13"
	@echo "make build    leave the release binary at build/stator"
	@echo "make package  a .deb, a tar.gz for any Linux and an OCI image in build/packages"
	@echo "make install  install binary, manual, completions, library and headers (PREFIX=/usr/local)"

build:
	@scripts/install-dependencies build
	@[ -e build/release/build.ninja ] || echo "building: about 3 minutes on two cores"
	cmake --preset release
	cmake --build --preset release --target stator -j $(JOBS)
	@cp -f build/release/stator build/stator.new && mv -f build/stator.new build/stator

run: build
	exec build/stator serve $(ARGS)

test:
	@scripts/install-dependencies build test
	@[ -e build/dev/build.ninja ] || echo "building and testing: about 7 minutes on two cores"
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS) --target quick_tests
	$(CTEST) --test-dir build/dev -L quick -LE check

check: test
	@scripts/check

bare:
	@scripts/install-dependencies bare
	scripts/bare bookworm run

demo: build
	@scripts/install-dependencies demo
	@scripts/demo build/release

bench: build
	cmake --build --preset release --target stator_bench -j $(JOBS)
	build/release/bench/stator_bench --stator build/release/stator $(ARGS)

differential: build
	@scripts/install-dependencies peers
	STATOR_PEERS=build/release/peers tests/differential/run build/stator --requests $${STATOR_REQUESTS:-100000} $(ARGS)

differential-vectors: build
	STATOR_PEERS=build/release/peers tests/differential/run build/stator --vectors --requests $${STATOR_REQUESTS:-50000} $(ARGS)

peers:
	@scripts/install-dependencies build test check peers
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS) --target \
	  toggle_recipe_test semaphore_recipe_test feed_recipe_test sensors_recipe_test
	tests/recipes/foreign build/dev build/release/peers $(ARGS)

package:
	@scripts/install-dependencies build package
	cmake --preset package
	cmake --build --preset package -j $(JOBS)
	packaging/build build/package build/packages

soak: package
	@scripts/install-dependencies build test check peers libraries bare
	for language in python javascript typescript go rust java; do \
	  tests/sdk/with_server build/package/stator tests/libraries/run $$language build/libraries/$$language || exit 1; done
	examples/cluster/run build/package/stator --failovers 50 --cut
	tests/packages/reproducible build/packages
	tests/packages/run build/packages all
	cmake --preset soak
	cmake --build --preset soak -j $(JOBS) --target crash_test damaged_log_test disk_full_test \
	  full_disk_server_test migration_kill_test sweep_costs_test control_group_test \
	  linearizability_pair_test linearizability_test feed_recipe_test semaphore_recipe_test sensors_recipe_test \
	  toggle_recipe_test postgres_test cluster_test client_homes_test transfer_homes_test history_test metamorphic_test \
	  lease_simulation_test feed_simulation_test cli_consume_test engine_test engine_simulation_test \
	  shared_jobs_test
	build/soak/src/engine/engine_test --gtest_filter='Catalog*Histories.*' --gtest_brief=1 \
	  --gtest_repeat=$${STATOR_CATALOG_RUNS:-2000}
	for seed in $$(seq $${STATOR_LEASE_HISTORIES:-1000}); do STATOR_SEED=$$seed \
	  build/soak/src/engine/shared_jobs_test --gtest_filter='LeaseHistories.*' --gtest_brief=1 || exit 1; done
	STATOR_LEASE_RUNS=20000 build/soak/tests/recipes/lease_simulation_test
	STATOR_LEASE_RUNS=20000 STATOR_SERVER_RUNS=$${STATOR_SERVER_RUNS:-5000} \
	  build/soak/src/engine/engine_simulation_test
	STATOR_TOGGLE_RUNS=20000 build/soak/src/cli/cli_consume_test --gtest_filter='ToggleConsumeSimulation.*'
	STATOR_LINEARIZABILITY_ROUNDS=500 build/soak/tests/linearizability/linearizability_pair_test
	STATOR_RUNS=$${STATOR_FEED_RUNS:-5000} build/soak/tests/recipes/feed_simulation_test
	STATOR_TEST_HOMES=postgres build/soak/tests/recipes/feed_recipe_test
	STATOR_TEST_HOMES=postgres build/soak/tests/recipes/sensors_recipe_test
	tests/postgres/second_version --libpq build/postgres $(CTEST) --test-dir build/soak -L postgres
	STATOR_DISK_FULL_ROUNDS=$${STATOR_DISK_FULL_ROUNDS:-50} build/soak/tests/power_loss/disk_full_test
	STATOR_DISK_FULL_ROUNDS=1 build/soak/tests/power_loss/full_disk_server_test
	STATOR_MIGRATION_FORMATS=all build/soak/tests/power_loss/migration_kill_test
	STATOR_EXPIRED=1000000 build/soak/tests/contention/sweep_costs_test
	STATOR_HOSTILE_CLIENTS=$${STATOR_HOSTILE_CLIENTS:-300} build/soak/tests/hostile/control_group_test
	STATOR_FLIPS=$${STATOR_FLIPS:-200} build/soak/tests/crash/damaged_log_test
	STATOR_CRASH_ROUNDS=$${STATOR_CRASH_ROUNDS:-1000} build/soak/tests/crash/crash_test
	for sanitizer in asan tsan; do \
	  cmake --preset $$sanitizer -DSTATOR_ALL_TESTS=ON && cmake --build --preset $$sanitizer -j $(JOBS) && \
	  ctest --preset $$sanitizer-rest -j $(TEST_JOBS) || exit 1; done
	scripts/fuzz $${STATOR_FUZZ_SECONDS:-60}
	scripts/bare bookworm all
	scripts/bare trixie all

format:
	@scripts/install-dependencies lint
	git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

lint:
	@scripts/install-dependencies build test lint
	cmake --preset dev
	@scripts/lint build/dev '*.cc'

install: build
	cmake --install build/release --strip --prefix $(PREFIX)

clean:
	rm -rf build
