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
	@echo "make soak     long tests: 1,000 kill -9 rounds, the README on bare Debian 12 and 13 (ARGS=crashes: only these)"
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
	scripts/soak $(ARGS)

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
