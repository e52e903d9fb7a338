# `make demo` and `make test` are all you need; the rest is for work on Tare itself.
# Each target installs the Debian packages it needs and lacks, configures with a preset of CMakePresets.json, builds
# with ninja into build/PRESET, and runs.
#
#   PRESET=debug make test     another preset (see `cmake --list-presets`)
#   JOBS=2 make test           fewer jobs than cores
#   PREFIX=/opt make install   another place than /usr/local
#   BENCH_PYTHON=PYTHON make bench   a Python that has the rivals; by default the one that `make interop` made, if it is there
#   TESTS=REGEX make test      only the tests whose names match; by default all but those with real models, of `make interop`

PRESET ?= release
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
TESTS ?=
BENCH_PYTHON ?= $(firstword $(wildcard build/interop/bin/python) /usr/bin/python3)
FUZZ_SECONDS ?= 60
FUZZ_PRESET ?= fuzz
TARGET ?= $(shell uname -m)-gnu

# Always with the same arguments: a configured tree is brought up to date, not thrown away.
define configure
	@$(if $(filter asan ci-asan fuzz,$(1)),tools/packages clang)
	@cmake --preset $(1) $(if $(V),,--log-level=WARNING)
endef
define build
	@cmake --build --preset $(1) -j $(JOBS) $(2)
endef
define test
	@ctest --preset $(1) -j $(JOBS) $(if $(TESTS),-R '$(TESTS)',-LE '^real$$')
endef
define whole_suite
	$(call configure,$(1))
	$(call build,$(1))
	$(call test,$(1))
endef

.DEFAULT_GOAL := help
.PHONY: help demo test asan tsan faults bounds interop python wheel arm64 amd64 s390x fuzz bench limits format check-format lint readme screenshots portability static release reproduce speed deb install clean packages

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: packages  ## build the command and run `tare demo`
	$(call configure,release)
	$(call build,release,--target tare-cli)
	@build/release/tare demo

test: packages  ## build everything and run the tests
	@tools/packages browser || echo "No browser here: the page of \`tare view\` is not tested in one." >&2
	$(call whole_suite,$(PRESET))

asan: packages  ## the tests under the address and undefined-behaviour sanitizers
	$(call whole_suite,asan)

tsan: packages  ## the tests under the thread sanitizer
	$(call whole_suite,tsan)

faults: packages  ## fail every call and kill before every change of a file, one at a time; FAULTS="--scenario file"
	$(call configure,release)
	$(call build,release,--target tare-cli --target tare-faults)
	@/usr/bin/python3 tests/faults/run.py --tare build/release/tare --library build/release/tests/faults/libtare-faults.so \
	  --jobs $(JOBS) $(FAULTS)

bounds: packages  ## files of 60 KB and of 5 MB that ask for all they can, every verb, against the limits on time and memory
	$(call configure,release)
	$(call build,release,--target tare-python --target tare-cli)
	$(call build,release,--target bounds-large)

interop: packages  ## the formats' own programs, from PyPI, on our files and ours on theirs; takes some gigabytes
	@tools/interop
	$(call configure,release)
	$(call build,release)
	@rm -f build/release/Testing/Temporary/LastTest.log
	@ctest --preset release -R '\.interop$$' --output-on-failure; code=$$?; \
	  grep -h '^skipped' build/release/Testing/Temporary/LastTest.log; exit $$code

python: packages  ## build the Python module from Debian's packages alone, into build/release/python
	$(call configure,release)
	$(call build,release,--target tare-python --target tare-cli)
	@echo "PYTHONPATH=$(CURDIR)/build/release/python"

wheel:  ## a wheel for every Linux with glibc 2.28 and this processor, in build/dist, checked; TARGET=x86_64-gnu for another processor
	@tools/packages build release
	@tools/release/build $(TARGET) $(JOBS)
	@build/kit/venv/bin/python tools/release/check.py build/dist --quick whl $(firstword $(subst -, ,$(TARGET)))

static:  ## the command as one static file for this processor, in build/dist, checked
	@tools/packages build release
	@tools/release/build $(firstword $(subst -, ,$(TARGET)))-musl $(JOBS)
	@build/kit/venv/bin/python tools/release/check.py build/dist static $(firstword $(subst -, ,$(TARGET)))

deb:  ## Debian packages of the committed tree, in build/dist: built in a root, looked at by lintian, tried in a bare one
	@tools/release/deb build/dist $(JOBS)

release:  ## everything above for both processors, with sums and the list of parts, in build/dist, checked
	@tools/release/release $(JOBS)

reproduce:  ## build again from the committed tree in another folder: the bytes of build/dist; TARGETS="aarch64-gnu aarch64-musl"
	@tools/release/reproduce $(JOBS) $(TARGETS)

speed: packages  ## the released command of build/kit beside one that is compiled here: processor time of nine jobs
	$(call configure,release)
	$(call build,release,--target tare-cli)
	@/usr/bin/python3 tools/release/speed.py build/kit/tare-$(TARGET)/tare build/release/tare

portability:  ## build and test on other releases of Debian, with other compilers (tools/portability.txt); CASES="sid-gcc15"
	@tools/portability $(JOBS) $(CASES)

arm64:  ## build for ARM64 and run the unit tests under emulation
	@tools/cross arm64 $(JOBS) $(TESTS)

amd64:  ## build for x86-64 and run the unit tests under emulation
	@tools/cross amd64 $(JOBS) $(TESTS)

s390x:  ## build for s390x, a big-endian machine, and run the unit tests under emulation
	@tools/cross s390x $(JOBS) $(TESTS)

fuzz: packages  ## fuzz readers, syntaxes, layouts, verbs and sets for FUZZ_SECONDS (60) each; FUZZ_PRESET=fuzz-gcc without clang
	$(call configure,$(FUZZ_PRESET))
	$(call build,$(FUZZ_PRESET))
	@tools/fuzz build/$(FUZZ_PRESET) --seconds $(FUZZ_SECONDS) --jobs $(JOBS)

bench: packages  ## everyday jobs, with the rivals that are installed; stores the numbers and writes docs/benchmarks.md; BENCH="--rounds 5 load"
	$(call configure,release)
	$(call build,release,--target tare-cli --target tare-python)
	@PYTHONPATH=build/release/python $(BENCH_PYTHON) bench/suite.py --tare build/release/tare $(BENCH)
	@/usr/bin/python3 bench/page.py

limits: packages  ## single kernels and jobs against the limits of this machine; LIMITS="--gib 1 read" for a part
	$(call configure,bench)
	$(call build,bench)
	@build/bench/bench/tare-bench --dir build/bench $(LIMITS)

format:  ## rewrite the C++ sources in the house format
	@tools/packages lint
	@tools/format --fix

check-format:  ## fail where `make format` would change something
	@tools/packages lint
	@tools/format --check

lint: packages  ## clang-tidy over the library, the command and the public headers
	@tools/packages lint
	$(call configure,$(PRESET))
	@tools/lint build/$(PRESET) $(JOBS)

readme: packages  ## bring the generated parts of README.md and docs up to date
	$(call configure,release)
	$(call build,release,--target tare-cli tare-python)
	@/usr/bin/python3 tools/readme.py build/release/tare
	@/usr/bin/python3 tools/options.py build/release/python
	@/usr/bin/python3 tools/schema.py
	@/usr/bin/python3 tools/verbs.py build/release/tare

screenshots: packages  ## take the pictures of the docs again, of SmolLM2 from PyPI, in chromium
	@tools/packages browser
	$(call configure,release)
	$(call build,release,--target tare-cli)
	@tools/screenshots build/release/tare

install:  ## install the command and the library into PREFIX (/usr/local)
	@tools/packages build
	$(call configure,install)
	$(call build,install)
	@cmake --install build/install --prefix $(PREFIX)

clean:  ## remove everything that was built
	@rm -rf build

packages:
	@tools/packages build test
