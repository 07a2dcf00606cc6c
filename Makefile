# SPDX-License-Identifier: Apache-2.0
# Stator's commands. Each installs what it needs from Debian's packages first (as root or with sudo).

JOBS ?= $(shell nproc)
ARGS ?=
CTEST = ctest --output-on-failure --no-tests=error -j $(JOBS)

.PHONY: help build run test check demo bench differential peers soak format lint install clean

help:
	@echo "make run      build, then serve the DynamoDB API on http://127.0.0.1:8000 (ARGS=... for flags)"
	@echo "make test     build and pass the quick tests"
	@echo "make check    everything CI runs: test, SDKs, sanitizers, crashes, lint"
	@echo "make demo     the four recipes on real data"
	@echo "make bench    measure beside raw RocksDB and a constant-answer HTTP server"
	@echo "make differential  100,000 random requests to Stator and DynamoDB Local, compared"
	@echo "make peers    the recipes' suites on DynamoDB Local and dynalite"
	@echo "make soak     1,000 kill -9 rounds instead of the 50 in make check"
	@echo "make build    leave the release binary at build/stator"
	@echo "make install  install binary, library and headers (PREFIX=/usr/local)"

build:
	@scripts/install-dependencies build
	cmake --preset release
	cmake --build --preset release --target stator -j $(JOBS)
	@cp -f build/release/stator build/stator.new && mv -f build/stator.new build/stator

run: build
	exec build/stator serve $(ARGS)

test:
	@scripts/install-dependencies build test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	$(CTEST) --test-dir build/dev -L quick

check: test
	@scripts/check

demo: build
	cmake --build --preset release --target examples -j $(JOBS)
	@scripts/demo build/release

bench:
	@scripts/install-dependencies build
	cmake --preset release
	cmake --build --preset release --target stator stator_bench -j $(JOBS)
	build/release/bench/stator_bench --stator build/release/stator $(ARGS)

differential: build
	@scripts/install-dependencies peers
	STATOR_PEERS=build/release/peers tests/differential/run build/stator --requests $${STATOR_REQUESTS:-100000} $(ARGS)

peers:
	@scripts/install-dependencies build test peers
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS) --target \
	  toggle_recipe_test semaphore_recipe_test feed_recipe_test sensors_recipe_test
	tests/recipes/foreign build/dev build/release/peers $(ARGS)

soak: build
	cmake --build --preset release --target crash_test -j $(JOBS)
	STATOR_CRASH_ROUNDS=$${STATOR_CRASH_ROUNDS:-1000} build/release/tests/crash/crash_test

format:
	@scripts/install-dependencies lint
	git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

lint:
	@scripts/install-dependencies build test lint
	cmake --preset dev
	@scripts/lint build/dev '*.cc'

install: build
	cmake --build --preset release -j $(JOBS)
	cmake --install build/release --prefix $${PREFIX:-/usr/local}

clean:
	rm -rf build
