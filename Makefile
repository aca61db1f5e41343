# Linux and macOS. On Windows use the pip or uv lines of the README.
PYTHON ?= python3
VENV ?= .venv
SUBMISSION ?= starter
EXERCISES ?=
# Linux: CUDA=1 takes PyPI's PyTorch, with CUDA; TORCH_INDEX another index of builds without.
CUDA ?=
TORCH_INDEX ?=
EXAMPLES ?= 10000
BENCH ?=
BIN := $(VENV)/bin

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || (echo "Python 3.11 to 3.14 is needed; set PYTHON=..."; exit 1)
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m grader.commands.install_torch $(if $(CUDA),--cuda) $(if $(TORCH_INDEX),--index $(TORCH_INDEX))
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,docs]'
	@touch $@

$(VENV)/installed-proof: $(VENV)/installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[trl]'
	@touch $@

# What tests of the pages need from npm: axe-core and html-validate; Lighthouse apart, because it is large.
tests/%/node_modules/installed: tests/%/package-lock.json
	@if command -v npm >/dev/null; then npm ci --prefix $(dir $<) --loglevel error --no-audit --no-fund && touch $@; fi

install: $(VENV)/installed-dev tests/browser/node_modules/installed ## install everything, once; the other targets do it too

grade: $(VENV)/installed ## grade starter/, or SUBMISSION=folder; EXERCISES="advantages clip" for some only
	@$(BIN)/grade $(EXERCISES) --path $(SUBMISSION) || [ $$? -eq 1 ]  # failed checks are a result, not an error of make

check: $(VENV)/installed-dev ## is my change sane? a minute or two
	@$(BIN)/python tests/tiers.py check

test: $(VENV)/installed-dev tests/browser/node_modules/installed ## may it land? everything that CI runs: six to ten minutes
	@$(BIN)/python tests/tiers.py test

proof: $(VENV)/installed-proof tests/browser/node_modules/installed tests/lighthouse/node_modules/installed ## is everything still true? every repetition: an hour and a half or more
	@$(BIN)/python tests/tiers.py proof

attacks: $(VENV)/installed-dev ## do the walls hold on this machine? every hostile submission; about two minutes, on Linux
	@$(BIN)/python -m pytest -q -rs -n auto -m "best or not proof" tests/attacks

selftest: $(VENV)/installed ## grade every answer whose grade is known
	$(BIN)/course dev selftest

mutation: $(VENV)/installed ## what each check is good for; fails if one catches no known mistake
	$(BIN)/course dev selftest --quick --checks

examples: $(VENV)/installed ## the invariants on the model answers with EXAMPLES=10000 inputs each
	$(BIN)/grade --path reference --examples $(EXAMPLES)

bench: $(VENV)/installed ## how fast: cold start, watch, wire, whole grading
	$(BIN)/python tests/bench/bench.py

bench-soak: $(VENV)/installed-dev ## does anything grow in 1,000 gradings in a row?
	@$(BIN)/python tests/bench/bench_soak.py

bench-charlm: $(VENV)/installed ## how reliably the language model learns; BENCH="--task arithmetic --seeds 10" for fewer runs
	@$(BIN)/python tests/bench/bench_charlm.py $(BENCH)

stubs: $(VENV)/installed ## write starter/ from the model answers (overwrites it)
	$(BIN)/course dev stubs

vectors: $(VENV)/installed ## write the worked examples' answers
	$(BIN)/course dev vectors

golden: $(VENV)/installed ## write what the browser must agree with: simulation, worksheet, language model
	$(BIN)/course dev golden
	$(BIN)/python tests/golden/language_model.py

RECORD := $(BIN)/python -m reference.run_charlm --overwrite --out docs/assets/runs/charlm
recordings: $(VENV)/installed ## write the recorded runs of the language model
	$(RECORD)-pizza
	$(RECORD)-pizza-token --level token
	$(RECORD)-pizza-sequence --ratio-level sequence
	$(RECORD)-pizza-kl --kl-coef 1
	$(RECORD)-arithmetic --task arithmetic
	cd docs/assets/runs && rm charlm-*/checkpoint.pt charlm-*/policy.safetensors charlm-*/diagnostics.png
	$(BIN)/course dev recordings

recording-llm: $(VENV)/installed-dev ## record a run of the pretrained language model, token by token
	$(BIN)/python tests/bench/record_llm.py
	$(BIN)/course dev recordings

recording-variants: $(VENV)/installed-dev ## record runs with the relatives of GRPO, 100 seeds each
	$(BIN)/python tests/bench/record_variants.py bandit
	$(BIN)/python tests/bench/record_variants.py charlm
	$(BIN)/course dev recordings

site: $(VENV)/installed-dev ## build the pages into build/site
	$(BIN)/mkdocs build --strict --site-dir build/site

offline: $(VENV)/installed-dev tests/browser/node_modules/installed ## a zip of the pages that works from a disk: build/grpo-course-site.zip
	$(BIN)/mkdocs build --strict --config-file .ci/offline.yml --site-dir ../build/grpo-course-site
	tests/browser/node_modules/.bin/esbuild docs/assets/js/index.mjs --inject:docs/assets/js/in-one-file.mjs --bundle --minify \
	  --log-level=warning --outfile=build/grpo-course-site/assets/course.js
	rm -r build/grpo-course-site/assets/js
	find build/grpo-course-site -name '*.html' -exec perl -pi -e 's/ data-preview(="")?//g; s/<link rel="preload"[^>]*>//g' {} +  # both need a server
	perl -pi -e 's/font-display: ?optional/font-display:block/g' build/grpo-course-site/assets/css/*.css  # fonts on a disk come at once
	$(BIN)/python -c "import shutil; shutil.make_archive('build/grpo-course-site', 'zip', 'build', 'grpo-course-site')"

serve: $(VENV)/installed-dev ## show the pages at http://127.0.0.1:8000/ and follow changes
	$(BIN)/mkdocs serve

lighthouse: $(VENV)/installed-dev tests/lighthouse/node_modules/installed ## speed and quality of the pages on a phone
	@$(BIN)/python tests/bench/lighthouse.py

clean: ## remove what was installed and built
	rm -rf $(VENV) build tests/*/node_modules

.PHONY: help install grade check test proof attacks selftest mutation examples bench bench-soak bench-charlm stubs vectors golden recordings recording-llm recording-variants site offline serve lighthouse clean
