# A thin front on CMake: two commands set everything up on a bare machine.
#   make run        install what is missing, build the command, run the main job, show its result: a minute
#   make test       the same set-up, then the tests that fit in five minutes (label quick)
#   make test-all   every test (labels quick and full); make test-rest: those that make test leaves out
#   make build      configure and compile only: the command, the examples, and what measures them
#   make install    the same for every processor, installed
#   make tidy, coverage  clang-tidy on rooms of the core; lines of the library that tests reach, by room
#   make package    a .tar.gz, and, where debhelper is, four .deb for Debian and Ubuntu, in build/package (cmake/package.cmake, debian)
#   make bundle     a folder that runs where nothing is installed (cmake/bundle)
# run, test and build compile workloads for this machine's level of x86-64 alone, the others for every level (cmake/levels.cmake).
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# the quick set waits for a fifth of its time, for signals, limits and ranks that end
TEST_JOBS ?= $(shell expr $(JOBS) + $(JOBS) / 2)
CLASS ?= W
TEST_ARGS ?=
# Ninja, where it is, is done a tenth sooner; a folder keeps what it was begun with
GENERATOR := $(if $(wildcard $(BUILD)/CMakeCache.txt)$(findstring -G,$(CMAKE_ARGS)),,$(shell command -v ninja >/dev/null 2>&1 && echo -G Ninja))
CONFIGURE = cmake -S . -B $(BUILD) $(GENERATOR)
# a test of the quick set is to take 5 s of processor time at most
LONG_TESTS = awk '{ of[$$1] = $$2 } END { for (name in of) { all += of[name]; if (of[name] > 5) print "more than 5 s of processor time: " of[name] " s, " name } \
	print "processor time of all tests: " all " s" }' $(BUILD)/tests/times.txt
CTEST = ctest --test-dir $(BUILD) --output-on-failure --no-label-summary

.PHONY: run test test-rest test-rest-until test-all build setup setup-test format tidy coverage install package bundle clean

run: setup
	$(CONFIGURE) -DEVENER_ISA=own $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target evener_command
	$(BUILD)/evener info
	$(BUILD)/evener run bt-mz --class $(CLASS) --units 2:CPU:1 --oversubscribe --json $(BUILD)/bt-mz.$(CLASS).json
	@echo "The record of this run is in $(BUILD)/bt-mz.$(CLASS).json"

test: setup-test
	$(CONFIGURE) -DEVENER_TESTS=ON -DEVENER_ISA=own $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	rm -f $(BUILD)/tests/times.txt
	$(CTEST) --parallel $(TEST_JOBS) --label-regex '^quick$$' --output-log $(BUILD)/tests-quick.log $(TEST_ARGS); status=$$?; $(LONG_TESTS); exit $$status

test-rest: setup-test
	$(CONFIGURE) -DEVENER_TESTS=ON -DEVENER_ISA=all $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	$(CTEST) --parallel $(JOBS) --label-regex '^full$$' --output-log $(BUILD)/tests-rest.log $(TEST_ARGS)

# the same, but no group of tests begins after UNTIL, in seconds since 1970
test-rest-until: setup-test
	$(CONFIGURE) -DEVENER_TESTS=ON -DEVENER_ISA=all $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	tests/in_time.py $(BUILD) $(UNTIL)

test-all: setup-test
	$(CONFIGURE) -DEVENER_TESTS=ON -DEVENER_ISA=all $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	$(CTEST) --parallel $(JOBS) $(TEST_ARGS)

build: setup
	$(CONFIGURE) -DEVENER_ISA=own $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)

setup:
	@cmake/setup build

setup-test:
	@cmake/setup test

format:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cpp' '*.hpp')

# checks of .clang-tidy on rooms of the core, or on FILES
FILES ?= $(wildcard $(patsubst %,src/%/*.c,core/base core/unit core/loop core/exchange session))
tidy:
	$(CONFIGURE) $(CMAKE_ARGS)
	echo $(FILES) | xargs -n 4 -P $(JOBS) clang-tidy -p $(BUILD) --quiet

# lines of each room that tests named by TEST_ARGS reach, or all quick ones
coverage: setup-test
	cmake --preset coverage
	cmake --build build-coverage --parallel $(JOBS)
	-ctest --test-dir build-coverage --parallel $(JOBS) --label-regex '^quick$$' $(TEST_ARGS)
	cmake/coverage build-coverage

install: setup
	$(CONFIGURE) -DEVENER_ISA=all $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	cmake --install $(BUILD)

package: setup
	cmake -S . -B $(BUILD)/package -DCMAKE_INSTALL_PREFIX=/usr -DEVENER_FORTRAN=OFF $(CMAKE_ARGS)
	cmake --build $(BUILD)/package --parallel $(JOBS)
	cd $(BUILD)/package && cpack
	if command -v dh >/dev/null; then EVENER_BUILD=$(abspath $(BUILD)/package) EVENER_PACKAGES=$(abspath $(BUILD)/package) debian/rules clean binary; fi

bundle: setup-test
	JOBS=$(JOBS) CMAKE_ARGS="$(CMAKE_ARGS)" cmake/bundle $(BUILD)/bundle

clean:
	rm -rf $(BUILD)
