# The bridge. `make help` lists the targets.
GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.DEFAULT_GOAL := help
.PHONY: help demo build test fault apex check vet lint fuzz generate soak bench performance clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: ## show the main job: signed deliveries end as the right records
	@echo "building…" >&2
	@$(GO) run ./cmd/bridge demo

build: ## build bin/bridge
	$(GO) build -o bin/bridge ./cmd/bridge

test: ## fetch what the tests need and run them all
	@GO="$(GO)" ./test/run.sh

fault: ## break everything while 100,000 events come; writes docs/reliability.md
	FAULT=long FAULT_REPORT=$(CURDIR)/docs/reliability.md $(GO) test ./test/fault -count=1 -parallel 3 -timeout 60m

apex: ## look at the Apex package with all that can without an org
	@GO="$(GO)" ./test/run.sh ./apex ./test/apex ./test/apexcheck

check: ## the quick form for daily work: format, vet, short tests
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "run: gofmt -w ." >&2; exit 1; }
	$(GO) vet ./...
	$(GO) test -short ./...

vet: ## go vet and formatting
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "run: gofmt -w ." >&2; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff

lint: ## the linter, by staticcheck.conf
	$(GO) run $(STATICCHECK) ./...

fuzz: ## every fuzz target for a few seconds beyond its seeds
	@GO="$(GO)" ./test/fuzz.sh

generate: ## make anew what is made from the code: the JSON Schemas
	$(GO) generate ./...

bench: build ## measure what the README quotes
	./bin/bridge bench

performance: build ## measure all, refresh docs/performance.md and README, ten minutes
	./bin/bridge bench --all --curves docs/performance --page docs/performance.md --page README.md

soak: ## ten minutes under faults: memory, goroutines, files and latency stay flat (DURATION, RATE)
	SOAK_DURATION="$(or $(DURATION),10m)" SOAK_RATE="$(RATE)" SOAK_PAGE="$(CURDIR)/docs/reliability.md" \
		$(GO) test -count 1 -timeout 0 -run 'TestSoak$$' -v ./test/soak

clean: ## remove what was built
	rm -rf bin
