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

DEMO_OUT := out/demo

heading = @printf '\n== %s\n' '$(1)'

.PHONY: help build demo reproduce functionbench test bench fmt gen verify-gen clean \
	deps fmt-check vet arch lint image race fuzz vulncheck smoke quickstart

help: ## explains the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

build: ## builds bin/dodoor
	$(call heading,building bin/dodoor $(VERSION) ($(COMMIT)))
	go build -ldflags '-X main.version=$(VERSION) -X main.commit=$(COMMIT)' -o bin/dodoor ./cmd/dodoor

demo: ## replays 2,000 requests on an emulated cluster of 100 nodes
	$(call heading,checking what the demo needs)
	@scripts/install-deps demo
	@$(MAKE) --no-print-directory build
	$(call heading,100 emulated workers and 5 schedulers under the dodoor policy)
	bin/dodoor local -conf conf/local.toml -trace functionbench -n 2000 -qps 60 -time-scale 5 -out $(DEMO_OUT)
	@find $(DEMO_OUT) -name tasks.csv -printf 'rows, one per task: %p\n'

reproduce: build ## runs every experiment in the simulator and writes docs/reproduction.md
	$(call heading,the experiments of the paper and more in virtual time: about ten minutes on two cores)
	bin/dodoor reproduce -out docs/reproduction.md

functionbench: build ## runs real containers: image, profile, four policies compared, report
	$(call heading,real work on this machine)
	@scripts/install-deps functionbench
	scripts/functionbench

test: deps fmt-check vet verify-gen arch lint image race fuzz vulncheck smoke quickstart ## runs all that CI runs
	$(call heading,everything passed)

bench: ## runs the benchmarks
	$(call heading,benchmarks)
	go test -run '^$$' -bench . -benchmem -p 1 ./...

fmt: ## formats the Go files
	gofmt -w .

gen: ## generates gen-go from thrift/dodoor.thrift
	$(call heading,generating gen-go)
	scripts/gen

verify-gen: ## checks that gen-go is what gen would write
	$(call heading,generated code)
	scripts/verify-gen

quickstart: build ## runs the services as separate processes and replays 50 tasks
	$(call heading,the services as three separate processes)
	@scripts/install-deps quickstart
	scripts/quickstart

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
	shellcheck scripts/* .ci/run

# Without an engine or the image, tests of containers are skipped, but in CI they fail.
image:
	$(call heading,the image of the FunctionBench tasks)
	scripts/functionbench-image || [[ $${CI:-} != true ]]

# Two packages at a time, but those whose tests run real work one by one: it needs the cores for itself.
REAL_WORK := dodoor/cmd/dodoor dodoor/functionbench dodoor/worker/executor
race:
	$(call heading,tests under the race detector)
	go test -race -p 2 -count=1 -timeout 10m $(filter-out $(REAL_WORK),$(shell go list ./...))
	$(call heading,tests of real work)
	go test -race -p 1 -count=1 -timeout 10m $(REAL_WORK)

fuzz:
	$(call heading,fuzz targets)
	scripts/fuzz

vulncheck: $(GOVULNCHECK)
	$(call heading,known vulnerabilities)
	scripts/vulncheck $(GOVULNCHECK)

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
