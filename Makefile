# Two commands are all that is needed: `make run` and `make test`. `make help` lists the others.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
NODE_LEAST := 20.19.0
comma := ,
# Name of the image in dist/. IMAGE overrides it.
SHIPPED_IMAGE = $(shell sed -n 's/^ *image: //p' dist/install.yaml)

.PHONY: help
help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{ printf "  make %-13s %s\n", $$1, $$2 }'

.PHONY: run
run: node_modules/.ready ## A cluster, a hub, the operator and samples on this machine, until Ctrl-C (ONCE=1: until all is Ready)
	@exec node --import tsx sandbox/run.ts

.PHONY: sandbox
sandbox: node_modules/.ready ## Only the cluster, until Ctrl-C (HUBS=1: also a node that runs hubs)
	@exec node --import tsx sandbox/cli.ts

.PHONY: test
test: node_modules/.ready ## Everything that this machine can check (FILES=pattern: these test files; HUB=version: with another Home Assistant; SEED=… of a run before; WITH_NODE=1: then test-node)
	@exec node --import tsx __tests__/run.ts $(if $(WITH_NODE),--with-node)

.PHONY: test-quick
test-quick: node_modules/.ready ## Types, lint, format, unit tests and schemas, in minutes
	@exec node --import tsx __tests__/run.ts --quick

.PHONY: test-node
test-node: node_modules/.ready ## Tests on a real node: kubelet, containerd, the images (Linux, root; FILES=pattern; LONG=1: also those of many minutes)
	@exec node --import tsx __tests__/run.ts --node

.PHONY: lint
lint: node_modules/.ready ## Types, lint and format
	@node_modules/.bin/tsc --noEmit
	@npm run --silent lint
	@node_modules/.bin/tsx sandbox/python-lint.ts
	@node_modules/.bin/tsx sandbox/workflow-lint.ts

.PHONY: format
format: node_modules/.ready ## Puts all files into their format
	@npm run --silent format

.PHONY: synth
synth: node_modules/.ready ## Writes dist/, imports/ and docs/reference from the sources (WEBHOOK_CERTIFICATE=cert-manager or none)
	@npm run --silent synth

.PHONY: docs
docs: node_modules/.ready ## The site of docs/, build/site, with its links checked (VERSION=… VERSIONS="…": in a folder of its own; DOCS_REPOSITORY=URL)
	@exec node_modules/.bin/vitepress build docs

.PHONY: picture
picture: node_modules/.ready ## The picture of the README, from `make run` in another terminal and a real browser
	@exec node_modules/.bin/tsx bench/picture.ts

.PHONY: validate
validate: node_modules/.ready ## Checks resources in FILES (default: samples) without a cluster (STRICT=1: warnings fail as well)
	@exec node_modules/.bin/tsx cli/index.ts validate $(if $(STRICT),--strict) $(or $(FILES),samples)

.PHONY: version
version: node_modules/.ready ## Sets the version of all packages and pages (VERSION=x.y.z), before the image of a release is built
	@node_modules/.bin/tsx release/index.ts --version-only

.PHONY: release
release: node_modules/.ready ## All that a release publishes, into build/release, each file tried (VERSION=x.y.z IMAGE=name@sha256:…; NOTES=file)
	@exec node_modules/.bin/tsx release/index.ts

.PHONY: bench
bench: node_modules/.ready ## Figures of the operator's runtime (N=10000), into bench/results
	@exec node_modules/.bin/tsx bench/index.ts $(or $(NAME),runtime)

.PHONY: flows
flows: node_modules/.ready ## Starts and answers the config flows that need no device, into docs/reference
	@exec node_modules/.bin/tsx bench/config-flows.ts

.PHONY: soak
soak: node_modules/.ready ## 20 minutes (MINUTES=…) of changes under resets and restarts, then floods and a rest of half that time
	@exec node_modules/.bin/tsx bench/index.ts soak

.PHONY: bundle
bundle: node_modules/.ready ## The operator and the command line as one file each, build/operator.cjs and build/kubectl-hub.cjs
	@node operator/bundle.mjs

.PHONY: image
image: ## The operator's image for this machine (IMAGE=registry/name:tag; PUSH=1: for amd64 and arm64, into the registry)
	@docker buildx build $(if $(PUSH),--platform linux/amd64$(comma)linux/arm64 --push,--load) \
	  --build-arg VERSION="$$(sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)" --build-arg REVISION="$$(git rev-parse HEAD)" \
	  --tag $(or $(IMAGE),$(SHIPPED_IMAGE)) .

.PHONY: image-archive
image-archive: node_modules/.ready ## The same image without a container engine, build/operator-image.tar (Linux)
	@exec node_modules/.bin/tsx sandbox/image/cli.ts

.PHONY: deploy
deploy: node_modules/.ready ## Installs dist/ into the cluster of kubectl's current context, after asking (IMAGE=…; YES=1: unasked)
	@exec node_modules/.bin/tsx deploy/deploy.ts

.PHONY: undeploy
undeploy: node_modules/.ready ## Removes it from there, after showing which Hubs and volumes go (YES=1; FORCE=1: see docs)
	@exec node_modules/.bin/tsx deploy/undeploy.ts

.PHONY: clean
clean: ## Removes what was built and what runs left here; not the cache of the sandbox (clean-cache)
	@rm -rf build .sandbox node_modules

.PHONY: clean-cache
clean-cache: node_modules/.ready ## Removes what the sandbox has built and downloaded for all clones of this user (~/.cache/hub-operator)
	@exec node_modules/.bin/tsx sandbox/clean-cache.ts

# The version is checked each time, since the packages may have been installed with another Node.js.
.PHONY: node-version
node-version:
	@command -v node >/dev/null || { echo "Node.js is not installed: install $(NODE_LEAST) or newer from https://nodejs.org."; exit 1; }
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); if (a < 20 || (a === 20 && b < 19)) { console.error(`Node.js $${process.versions.node} is too old: install $(NODE_LEAST) or newer.`); process.exit(1); }'

node_modules/.ready: package.json cli/package.json operator/package.json package-lock.json | node-version
	@echo "Installing packages from npm (about 300 MB, once) …"
	@npm ci --no-audit --no-fund --no-update-notifier --loglevel=error --fetch-retries=1 || { echo "npm could not install the packages: see its words above. It needs a way to $$(npm config get registry); behind a proxy set HTTPS_PROXY, for another registry \`npm config set registry URL\`."; exit 1; }
	@touch $@
