# A thin front for scripts/ and CMake's presets. `make help` names everything.
PORT ?= 8080
export PORT

.PHONY: help run demo test test-all test-full bench format lint clean

help:
	@echo "make run       build, start the server with the demo model on 127.0.0.1:$(PORT) (PORT=), ask it a question, keep serving"
	@echo "make demo      the same, then stop"
	@echo "make test      install what is missing, build, run every test (about ten minutes on two cores)"
	@echo "make test-all  the same with the long tests, the sanitizers, clang and an arm64 system"
	@echo "make test-full the real width and size against transformers: 4 to 22 GB of memory"
	@echo "make bench     decode and prefill speed of the demo model on this machine"
	@echo "make format    format the C++ sources in place"
	@echo "make lint      formatting, clang-tidy, shellcheck, layers and sizes"
	@echo "make clean     remove build/"

run:
	@scripts/demo.sh serve

demo:
	@scripts/demo.sh once

test:
	@scripts/test.sh

test-all:
	@scripts/test_all.sh

test-full:
	@scripts/test_full.sh

bench:
	@scripts/bench.sh

format:
	@scripts/format.sh --write

lint:
	@scripts/lint.sh

clean:
	rm -rf build
