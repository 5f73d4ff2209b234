# What the scripts share: say, find a Python, keep a virtual environment true to pyproject.toml. Sourced, never run.
# shellcheck shell=bash

set -euo pipefail
here=$(readlink -f "${BASH_SOURCE[0]}")
root=${here%/scripts/lib.sh}

say() { printf 'covey: %s\n' "$*" >&2; }

die() {
    say "$*"
    exit 1
}

is_fit() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# Prints the newest Python from 3.11 on that can make a virtual environment, or the one that COVEY_PYTHON names.
find_python() {
    local name
    if [ -n "${COVEY_PYTHON:-}" ]; then
        is_fit "$COVEY_PYTHON" || die "COVEY_PYTHON=$COVEY_PYTHON is not a Python from 3.11 on with its venv module"
        printf '%s\n' "$COVEY_PYTHON"
        return
    fi
    for name in python3.14 python3.13 python3.12 python3.11 python3 /usr/bin/python3; do
        if is_fit "$name"; then
            command -v "$name"
            return
        fi
    done
    die "no Python from 3.11 on with its venv module was found. On Debian and Ubuntu: apt-get install python3 python3-venv"
}

# What an environment with these extras is made from.
stamp_of() { { cat "$root/pyproject.toml" && printf '%s %s\n' "$root" "$1"; } | sha256sum | cut -c1-32; }

is_ready() { # FOLDER EXTRAS
    grep -qsx "$(stamp_of "$2")" "$1/.covey-stamp" && "$1/bin/python" -I -c 'import covey' >/dev/null 2>&1
}

# Sets $venv to a folder that holds covey with these extras: .venv in the checkout, or one of the user's own where the checkout
# can't be written. Does nothing when nothing changed.
need_venv() { # EXTRAS, as "test,check", or "" for none
    venv=$root/.venv
    if is_ready "$venv" "$1"; then return; fi
    if ! [ -w "$venv" ] && { [ -e "$venv" ] || ! [ -w "$root" ]; }; then
        venv=${XDG_DATA_HOME:-$HOME/.local/share}/covey/venv-$(printf %s "$root" | sha256sum | cut -c1-12)
        say "$root can't be written by $(id -un): the virtual environment is $venv"
        if is_ready "$venv" "$1"; then return; fi
    fi
    mkdir -p "$venv" || die "$venv can't be made"
    exec 9>"$venv/.covey-lock"
    flock 9 # another script may be at it
    is_ready "$venv" "$1" || install_venv "$1"
    exec 9>&-
}

install_venv() { # EXTRAS
    local python target=$root${1:+"[$1]"}
    if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        python=$(find_python) || exit 1
        say "making a virtual environment in $venv with $python"
        "$python" -m venv "$venv" || die "the virtual environment could not be made in $venv"
    fi
    say "installing covey${1:+ with $1} and what it needs (once; later starts need no network)"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$target" >&2 ||
        die "the installation failed; the reason stands above. It needs the network the first time, and when pyproject.toml has changed"
    # so that each start need not compile it, also where Python is told to write no bytecode by itself
    if [ -w "$root/src" ]; then "$venv/bin/python" -m compileall -q "$root/src" || true; fi
    stamp_of "$1" >>"$venv/.covey-stamp"
}
