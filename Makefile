# Targets: check (what a reviewer runs first), test, race, fuzz, bench, conformance, man.

GO ?= go
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
TOOL = scripts/tool
GOVULNCHECK = $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4
FUZZTIME ?= 20s

.PHONY: all build check test race fuzz stress soak mutate vuln bench rank rank-tokens rank-golib symbols fuzzy cross conformance conformance-install

all: check test

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/quarry ./cmd/quarry

check:
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "run gofmt -w on these"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -C tools ./...
	$(STATICCHECK) ./...
	cd tools && $(STATICCHECK) ./...
	$(GO) test ./internal/arch

# All tests, those of the module in tools/ too, then what was skipped, why, and how to run it. SHORT=-short takes
# half a minute.
SHORT ?=

test:
	$(TOOL) stress/tests $(SHORT) ./...
	$(TOOL) stress/tests -C tools $(SHORT) ./...

race:
	STRESS=brief $(GO) test -race -short ./...
	STRESS=brief $(GO) test -C tools -race -short ./...

# Every fuzz target of every package, FUZZTIME each, with its executions a second;
# ONLY narrows.
fuzz:
	$(TOOL) stress/fuzz -time $(FUZZTIME) -only '$(ONLY)'

# The regimes of docs/RELIABILITY.md, one after another, with what each tried:
# "make stress" the short forms (go test takes a twentieth of them), "make stress STRESS=20m" at most 20 minutes
# each, STRESS=long all of it. ONLY narrows, WRITE=-write fills the document.
STRESS ?= short
ONLY ?=
WRITE ?=

stress:
	STRESS=$(STRESS) $(TOOL) stress/run -only '$(ONLY)' $(WRITE)

# Calls that are meant to exhaust the program, with what each took; WRITE=-write
# puts the table into docs/FIGURES.md.
.PHONY: hostile
hostile:
	$(TOOL) stress/hostile $(WRITE)

# The real program under load: memory, handles, goroutines and watches over time.
SOAK ?= 20m

soak:
	STRESS=$(SOAK) $(GO) test -count=1 -v -timeout 100h -run '^TestSoak$$' ./internal/stress

# Safety mechanisms switched off one by one: each time a test must fail.
mutate:
	MUTATE=1 $(GO) test -count=1 -v -timeout 2h -run '^TestMutations$$' ./internal/stress

vuln:
	$(GOVULNCHECK) ./...
	cd tools && $(GOVULNCHECK) ./...

# The official MCP suite and the TypeScript clients, against this server. They
# need Node 22; below QUARRY_NPM (a folder node_modules) are the packages that
# "make conformance-install" brings.
QUARRY_NPM ?= $(CURDIR)/.oracles/node_modules

conformance:
	QUARRY_CONFORMANCE=1 QUARRY_NPM=$(QUARRY_NPM) $(GO) test -count=1 -timeout 8m -v -run 'TestConformance|TestClients|TestTypeScriptClient' ./internal/mcpserver ./internal/cli

conformance-install:
	mkdir -p $(dir $(QUARRY_NPM)) && cd $(dir $(QUARRY_NPM)) && npm install --no-audit --no-fund --silent \
		node-$$($(GO) env GOOS)-$$($(GO) env GOARCH | sed s/amd64/x64/)@22 \
		@modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/sdk@1 @modelcontextprotocol/inspector@2

# Every suite of others, with docs/CONFORMANCE.md. SUITES is a folder with their
# checkouts (see tools/bench/conformance); npm's packages are fetched into it.
SUITES ?=

.PHONY: conformance-all
conformance-all:
	$(TOOL) bench/conformance -suites '$(SUITES)' -fetch $(WRITE)

bench:
	$(TOOL) bench

# Ranked search on an outside benchmark: TREES has a checkout of each repository
# that ANNOTATIONS/repos.json names.
TREES ?=
ANNOTATIONS ?= ../shared/conformance/ranking

rank:
	$(TOOL) bench/ranking -trees '$(TREES)' -annotations '$(ANNOTATIONS)'

# What an agent reads to see a definition.
rank-tokens:
	$(TOOL) bench/ranking -trees '$(TREES)' -annotations '$(ANNOTATIONS)' -tokens

# Definitions beside those of universal-ctags: make symbols TREES=DIR UNITS=DIR [LANG=NAME]
symbols:
	$(TOOL) bench/symbols -trees '$(TREES)' -units '$(UNITS)' -lang '$(if $(filter file command\ line,$(origin LANG)),$(LANG))'

# Searches by structure beside ast-grep, and rewrites that must parse:
# make structure TREES=DIR ASTGREP=PROGRAM
ASTGREP ?= ast-grep
.PHONY: structure
structure:
	$(TOOL) bench/structure -trees '$(TREES)' -astgrep '$(ASTGREP)'
	$(TOOL) bench/structure -trees '$(TREES)' -rewrite

# Renames beside those of gopls: make renames TREES="A B C" GOPLS=PROGRAM
GOPLS ?= gopls
.PHONY: renames
renames:
	$(TOOL) bench/renames -gopls '$(GOPLS)' $(TREES)

# Patches of real commits on files that have changed since, beside git apply and
# GNU patch: make patches REPOS=A:B:C
REPOS ?=
.PHONY: patches
patches:
	$(TOOL) bench/patches -repos '$(REPOS)'

# Edits of real commits with other white space, and stale ones: make spaces REPOS=A:B:C
.PHONY: spaces
spaces:
	$(TOOL) bench/patches -spaces -repos '$(REPOS)'

# Values of real configuration files changed by path, with what jq, npm's readers and
# Python's make of them: make values REPOS=A:B:C
.PHONY: values values-install
values:
	$(TOOL) bench/values -repos '$(REPOS)' -npm '$(QUARRY_NPM)'

values-install:
	mkdir -p $(dir $(QUARRY_NPM)) && cd $(dir $(QUARRY_NPM)) && npm install --no-audit --no-fund --silent yaml@2 smol-toml@1 jsonc-parser@3

# How often the right definition comes first: make rank-golib TREES=DIR, the source of Go's library
rank-golib:
	$(TOOL) bench/ranking -golib '$(TREES)'

# How often the path meant comes first, beside fzf, and how long 78,000 paths take:
# make fuzzy QUARRY_BENCH_TREE=DIR QUARRY_FUZZY_TREES=DIR-OF-TREES
fuzzy:
	QUARRY_FUZZY_REPORT=1 $(GO) test ./internal/fuzzy -run TestReport -count=1 -v -timeout 30m
	$(GO) test ./internal/fuzzy -run '^$$' -bench Rank -benchtime 20x

# Every system and every processor is vetted once, not each pair: with empty caches
# a pair takes a minute and a half.
cross:
	@for t in darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 linux/arm64; do \
		echo "build $$t"; \
		GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/quarry || exit 1; \
		case $$t in darwin/amd64 | windows/arm64) continue ;; esac; \
		GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) vet ./... && \
		GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) vet -C tools ./... || exit 1; \
	done

# The tests that say something about Windows, built for it and run by Wine:
# WINE_PACKAGES narrows them, WINE_FLAGS= runs them in full. Only the seeds of a
# fuzz test are left out, which TestPaths tries as well. What Wine can't show is
# in docs/PLATFORMS.md.
WINE_PACKAGES ?= ./internal/rootfs/... ./internal/watch ./internal/walk ./internal/ignore ./internal/textedit ./internal/trash ./internal/owner \
	./internal/index ./internal/scan ./internal/journal ./internal/config ./internal/changer ./internal/searcher ./internal/backend ./internal/doctor \
	./internal/mcpserver ./internal/cli ./internal/review ./internal/recorder ./internal/stress
WINE_FLAGS ?= -short
WINE_SKIP ?= FuzzPaths

.PHONY: test-windows
test-windows:
	@scripts/wine/prefix >/dev/null
	@$(GO) build -C tools -o ../bin/tests ./stress/tests
	STRESS=brief GOOS=windows GOARCH=amd64 CGO_ENABLED=0 bin/tests -timeout 30m $(WINE_FLAGS) -skip '$(WINE_SKIP)' -exec $(CURDIR)/scripts/wine/exec $(WINE_PACKAGES)

# What a person runs on a Mac, or on Windows: a report of what passes here.
.PHONY: test-here
test-here:
	scripts/test-here

# The vector kernels of arm64, and what rests on them, under qemu-user: about 85 s
# of processor time. ARM64_SKIP leaves out a test that compares with the clock.
ARM64_PACKAGES ?= ./internal/re/vec ./match ./internal/index
ARM64_SKIP ?= TestLargeCounts

.PHONY: test-arm64
test-arm64:
	@command -v qemu-aarch64 >/dev/null || { echo "qemu-aarch64 is missing (Debian: qemu-user)"; exit 3; }
	@$(GO) build -C tools -o ../bin/tests ./stress/tests
	@echo "left out: $(ARM64_SKIP) (limits in seconds of processor time, which emulation takes twenty times)"
	STRESS=brief GOOS=linux GOARCH=arm64 CGO_ENABLED=0 bin/tests -timeout 30m -short -skip '$(ARM64_SKIP)' -exec qemu-aarch64 $(ARM64_PACKAGES)

# The manual pages, from the command tree; the folder is MANDIR.
MANDIR ?= man

.PHONY: man
man:
	$(GO) run ./cmd/quarry man $(MANDIR)

# Gives the source the place it is published at: module path, imports, image and
# registry names. IMAGE names the container image for a host other than GitHub.
.PHONY: publish-as release-check
MODULE ?=
IMAGE ?=

publish-as:
	$(TOOL) packaging/publish -module "$(MODULE)" -image "$(IMAGE)"

# A release in a copy, as far as this machine has the tools: nothing is sent.
release-check:
	scripts/release-check.sh

# The npm packages, in bin/release/npm: make npm NAME=... VERSION=1.2.3. NAME is
# given by whoever publishes them; each folder is then sent by npm publish, those of
# the platforms first.
.PHONY: npm
NAME ?=
VERSION ?= 0.0.0

npm:
	@test -n "$(NAME)" || { echo "say what the package is called: make npm NAME=..."; exit 1; }
	$(TOOL) packaging/bundle -version "$(VERSION)" -npm "$(NAME)" -out bin/release
