#!/usr/bin/env bash
# Gradescope runs this once, as root, when the container is built. Any failure ends the build, so that it can be seen.
set -euo pipefail

root="${AUTOGRADER_ROOT:-/autograder}"
source="$root/source"

is_new_enough() {
    command -v "$1" >/dev/null && "$1" -c 'import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null
}

find_python() {
    local name
    for name in python3.13 python3.12 python3.11 python3; do
        if is_new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
    return 1
}

if ! python="$(find_python)"; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update
    # Ubuntu 24.04 has 3.12 under the first name, Ubuntu 22.04 has 3.11 under the second.
    apt-get install -y --no-install-recommends python3 python3-venv
    find_python >/dev/null || apt-get install -y --no-install-recommends python3.11 python3.11-venv
    python="$(find_python)" || { echo "setup.sh: Python 3.11 to 3.14 is needed; choose another base image" >&2; exit 1; }
fi

# Isolation level 1 builds its filter of system calls with this library.
if ! ldconfig -p | grep -q 'libseccomp\.so'; then
    apt-get update
    apt-get install -y --no-install-recommends libseccomp2
fi

cd "$source"
"$python" -m venv "$root/venv"
# PyTorch's own index has a build without CUDA, a tenth as large; `course autograder --torch-index` writes its address.
[ ! -s torch_index.txt ] || PIP_EXTRA_INDEX_URL="$(cat torch_index.txt)"
export PIP_EXTRA_INDEX_URL="${PIP_EXTRA_INDEX_URL:-}"
"$root/venv/bin/python" -m pip install --no-cache-dir --disable-pip-version-check -c constraints.txt -e .

# The model answers, the seed and the secret are for root only; a submission's worker cannot read them in any case.
chmod -R go-rwx "$source/reference" "$source/autograder.json" "$source/class-secret"
"$root/venv/bin/grade" --version
