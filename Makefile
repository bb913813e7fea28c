# Set-up, demo and tests, without root. Needs Node 20 or newer, Python 3.11 or newer and a C compiler.

NODE ?= node
NPM ?= npm
TILEWRIGHT = $(NODE) bin/tilewright.js

.PHONY: all demo test test-quick check build toolchain toolchain-all clean
all: build

# npm writes this file last, so it is newer than the lock exactly when the install was completed.
node_modules/.package-lock.json: package.json package-lock.json
	$(NPM) ci --ignore-scripts
	@touch $@

dist/.built: node_modules/.package-lock.json tsconfig.json tsconfig.build.json tsconfig.kernels.json scripts/bundle.js $(shell find src kernels -name '*.ts')
	$(NPM) run --silent build
	@touch $@

build: dist/.built

# The pinned MLIR tools, in the user's cache folder; nothing to do when they are there.
toolchain: build
	@$(TILEWRIGHT) toolchain install mlir

# What the tests use besides, for the GPU targets: Triton (700 MB), Mosaic GPU (500 MB) and nvcc (350 MB).
toolchain-all: build
	@$(TILEWRIGHT) toolchain install mlir triton mosaic nvcc

# The main job on a fresh machine: a kernel in TypeScript becomes machine code, runs on .npy files and is checked.
demo: toolchain
	@$(NODE) scripts/demo.js

check: build
	$(NPM) run --silent typecheck
	$(NPM) run --silent lint

test: check toolchain-all
	$(NPM) test --silent

# The inner loop: no property tests, no real tools.
test-quick: node_modules/.package-lock.json
	$(NPM) test --silent -- test/unit test/golden

clean:
	rm -rf dist build out
