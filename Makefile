# A thin front on CMake: two commands set everything up on a bare machine.
#   make run     install what is missing, build, run the main job, show its result
#   make test    the same set-up, then every test
#   make build   configure and compile only
#   make package a .deb and a .tar.gz for Debian, Ubuntu and others, in build/package (cmake/package.cmake)
#   make bundle  a folder that runs where nothing is installed (cmake/bundle)
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CLASS ?= W
TEST_ARGS ?=

.PHONY: run test build setup setup-test format install package bundle clean

run: build
	$(BUILD)/evener info
	$(BUILD)/evener run bt-mz --class $(CLASS) --json $(BUILD)/bt-mz.$(CLASS).json
	@echo "The record of this run is in $(BUILD)/bt-mz.$(CLASS).json"

test: setup-test
	cmake -S . -B $(BUILD) -DEVENER_TESTS=ON $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure --parallel $(JOBS) $(TEST_ARGS)

build: setup
	cmake -S . -B $(BUILD) $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)

setup:
	@cmake/setup build

setup-test:
	@cmake/setup test

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

install: build
	cmake --install $(BUILD)

# without what other releases have under other names; those who build find it
package: setup
	cmake -S . -B $(BUILD)/package -DEVENER_FORTRAN=OFF -DSCOTCH_LIBRARY=OFF -DCBC_LIBRARY=OFF $(CMAKE_ARGS)
	cmake --build $(BUILD)/package --parallel $(JOBS)
	cd $(BUILD)/package && cpack

bundle: setup-test
	JOBS=$(JOBS) CMAKE_ARGS="$(CMAKE_ARGS)" cmake/bundle $(BUILD)/bundle

clean:
	rm -rf $(BUILD)
