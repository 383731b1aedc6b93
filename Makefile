# What one can do here: `make help`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

VERSION := $(shell git describe --tags --dirty 2>/dev/null || echo dev)
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

# Tools are pinned here and installed beside the binary, so that go.mod holds what dodoor links.
STATICCHECK := bin/tools/staticcheck-v0.8.2
GOVULNCHECK := bin/tools/govulncheck-v1.8.0
BENCHSTAT := bin/tools/benchstat-v0.0.0-20260908200009-22c9c6c9d4da

GREMLINS := bin/tools/gremlins-v0.6.0

DEMO_OUT := out/demo

heading = @printf '\n== %s\n' '$(1)'

.PHONY: help build demo chaos reliability hostile secure mutate reproduce calibrate functionbench test explore bench bench-run fmt gen \
	verify-gen notices verify-notices clean deps fmt-check vet arch lint image race fuzz vulncheck smoke quickstart

help: ## explains the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

build: ## builds bin/dodoor
	$(call heading,building bin/dodoor $(VERSION) ($(COMMIT)))
	go build -ldflags '-X dodoor/internal/version.version=$(VERSION) -X dodoor/internal/version.commit=$(COMMIT)' -o bin/dodoor ./cmd/dodoor

demo: ## replays 2,000 requests on an emulated cluster of 100 nodes
	$(call heading,checking what the demo needs)
	@scripts/install-deps demo
	@$(MAKE) --no-print-directory build
	$(call heading,100 emulated workers and 5 schedulers under the dodoor policy)
	bin/dodoor local -conf conf/local.toml -trace functionbench -n 2000 -qps 60 -time-scale 5 -out $(DEMO_OUT)
	@find $(DEMO_OUT) -name tasks.csv -printf 'rows, one per task: %p\n'

reproduce: build ## runs every experiment in the simulator and writes docs/reproduction.md
	$(call heading,the experiments of the paper and more in virtual time: about twenty minutes on two cores)
	bin/dodoor reproduce -out docs/reproduction.md

calibrate: build ## compares the simulator with the real services and writes docs/calibration.md
	$(call heading,real services against the simulator: a quarter of an hour, in which nothing else should run)
	bin/dodoor calibrate -md docs/calibration.md

functionbench: build ## runs real containers: image, profile, five policies compared, report
	$(call heading,real work on this machine)
	@scripts/install-deps functionbench
	scripts/functionbench

# Fuzzing draws other inputs every time: it belongs to explore. What it has found is tried by every go test.
test: deps fmt-check vet verify-gen verify-notices arch lint image race vulncheck smoke quickstart chaos ## runs all that CI runs
	$(call heading,everything passed)
	@cat $(UNCHECKED) 2>/dev/null || true

# No Docker, no root, no program beside Go, no real work, no race detector.
check: fmt-check vet arch ## runs what one runs before every commit, about a minute on two idle cores
	$(call heading,tests without real work)
	go test -short $(filter-out $(REAL_WORK) $(NEMESIS),$(shell go list ./...))

# As many seeds as the time allows, or so many, or this one. It needs the cores for itself.
NEMESIS := dodoor/chaos/nemesis
TIME ?= 4m
SEEDS ?=
SEED ?=
# A minute for each seed; CI's four minutes of seeds and the machine whose clock is stepped have 15.
CHAOS_TIMEOUT = $(if $(SEED),15m,$(if $(SEEDS),$(shell expr $(SEEDS) + 15)m,$(if $(filter 4m,$(TIME)),15m,25h)))
chaos: image ## kills, cuts and slows real services in containers, and proves that nothing is lost: [TIME=1h] [SEEDS=200] [SEED=7]
	$(call heading,chaos on real processes)
	go test -count=1 -v -timeout $(CHAOS_TIMEOUT) $(if $(SEED),-run 'TestChaos$$') $(NEMESIS) \
		$(if $(SEED),-seed $(SEED),$(if $(SEEDS),-seeds $(SEEDS),-seeds 1000000 -time $(TIME)))

reliability: build ## measures docs/reliability.md: separate processes, one fault at a time; ten minutes
	$(call heading,what faults cost: nothing else should run)
	go test -count=1 -v -timeout 60m ./reliability -figures
	go test -run '^$$' -bench Accepted -benchtime 20000x ./scheduler/schedulerd
	go test -run '^$$' -bench TakenUp -benchtime 3x ./scheduler/schedulerd

hostile: build ## measures what peers that mean no good cost others: ten thousand connections and more; five minutes
	$(call heading,hostile peers: nothing else should run)
	go test -count=1 -v -timeout 30m ./reliability -run 'TestHostile$$' -hostile
secure: ## compares mutual TLS with plaintext: throughput, delays, and how soon all are back after a restart; eight minutes
	$(call heading,what identities cost: nothing else should run)
	go test -count=1 -v -timeout 60m ./experiment -run '^TestCostOfIdentities$$' -secure 20000

# Every run makes other draws and inputs: what it finds was there before, whoever runs it.
EXPLORE := 20000
PROPERTIES = $(shell grep -rl --include='*_test.go' 'rapid\.Check' . | xargs -n1 dirname | sort -u)
explore: ## looks for what no test has found yet, an hour or two: [EXPLORE=draws and inputs each]
	$(call heading,$(EXPLORE) draws of every property test)
	RAPID_CHECKS=$(EXPLORE) go test -short -count=1 -timeout 4h -p 1 $(PROPERTIES)
	$(call heading,fuzz targets)
	scripts/fuzz $(EXPLORE)

bench: ## runs the benchmarks
	$(call heading,benchmarks)
	go test -run '^$$' -bench . -benchmem -p 1 ./...

bench-run: build ## short commands a second: dodoor run beside xargs and GNU parallel
	$(call heading,short commands: nothing else should run)
	scripts/bench-run

bench-compare: $(BENCHSTAT) ## compares the benchmarks with those of a commit: BASE=commit [BENCH=regexp]
	$(call heading,benchmarks compared with those of $(BASE))
	scripts/bench-compare $(BENCHSTAT) '$(BASE)' '$(BENCH)'

# Hours: everything is compiled and tested anew for each of two thousand changes.
mutate: $(GREMLINS) ## changes the pure packages, one place at a time, and writes docs/mutants.md: [PACKAGES="worker sim"]
	$(call heading,changes that the tests of the pure packages should notice)
	scripts/mutate $(GREMLINS) $(PACKAGES)
	go test -count=1 -v ./internal/mutants -run '^TestMutants$$' -results $(CURDIR)/out/mutants \
		-command '`make mutate`, $(shell date -u +%F), commit $(COMMIT).'

fmt: ## formats the Go files
	gofmt -w .

gen: ## generates gen-go from thrift/dodoor.thrift
	$(call heading,generating gen-go)
	scripts/gen

notices: ## writes NOTICES, the licences of what dodoor links
	$(call heading,licences of what is linked)
	scripts/notices

verify-notices: ## checks that NOTICES is what notices would write
	$(call heading,licences of what is linked)
	scripts/verify-notices

verify-gen: ## checks that gen-go is what gen would write
	$(call heading,generated code)
	scripts/verify-gen

quickstart: build ## runs the services as separate processes and replays 50 tasks
	$(call heading,the services as three separate processes)
	@scripts/install-deps quickstart
	scripts/quickstart --free-ports

clean: ## removes what was built and measured
	rm -rf bin out

deps:
	$(call heading,installing what the checks need)
	@scripts/install-deps test

fmt-check:
	$(call heading,gofmt)
	@unformatted=$$(gofmt -l .); [[ -z $$unformatted ]] || { echo "run make fmt on:"; echo "$$unformatted"; exit 1; }

vet:
	$(call heading,go vet)
	go vet ./...

arch:
	$(call heading,architecture)
	go test -count=1 ./internal/arch

lint: $(STATICCHECK)
	$(call heading,staticcheck and shellcheck)
	$(STATICCHECK) $$(go list ./... | grep -v '^dodoor/gen-go/')
	shellcheck -x -a $$(find scripts -maxdepth 1 -type f) .ci/run

# Without an engine or the image, tests of containers are skipped, but in CI they fail.
image:
	$(call heading,the image of the FunctionBench tasks)
	scripts/functionbench-image || [[ $${CI:-} != true ]]

# Two packages at a time, but those whose tests run real work one by one: it needs the cores for itself.
REAL_WORK := dodoor/cmd/dodoor dodoor/functionbench dodoor/reliability dodoor/testbed dodoor/internal/manual \
	$(addprefix dodoor/,internal/cgroup internal/keeper internal/procfs internal/procgroup internal/vm) \
	$(addprefix dodoor/worker/executor/,docker process stressng)
race:
	$(call heading,tests under the race detector)
	scripts/race -p 2 -timeout 10m $(filter-out $(REAL_WORK) $(NEMESIS),$(shell go list ./...))
	$(call heading,tests of real work)
	scripts/race -p 1 -timeout 20m $(REAL_WORK)

fuzz:
	$(call heading,fuzz targets)
	scripts/fuzz

UNCHECKED := bin/not-checked
vulncheck: $(GOVULNCHECK)
	$(call heading,known vulnerabilities)
	scripts/vulncheck $(GOVULNCHECK) $(UNCHECKED)

smoke:
	$(call heading,the demo from end to end)
	scripts/smoke

bin/tools/staticcheck-%:
	$(call heading,installing staticcheck $*)
	GOBIN=$(CURDIR)/bin/tools go install honnef.co/go/tools/cmd/staticcheck@$*
	@mv bin/tools/staticcheck $@

bin/tools/govulncheck-%:
	$(call heading,installing govulncheck $*)
	GOBIN=$(CURDIR)/bin/tools go install golang.org/x/vuln/cmd/govulncheck@$*
	@mv bin/tools/govulncheck $@

bin/tools/benchstat-%:
	$(call heading,installing benchstat $*)
	GOBIN=$(CURDIR)/bin/tools go install golang.org/x/perf/cmd/benchstat@$*
	@mv bin/tools/benchstat $@

bin/tools/gremlins-%:
	$(call heading,installing gremlins $*)
	GOBIN=$(CURDIR)/bin/tools go install github.com/go-gremlins/gremlins/cmd/gremlins@$*
	@mv bin/tools/gremlins $@
