#!/bin/sh
# install.sh: installs rocshim from this folder, and removes it again.
#
#   ./install.sh [PREFIX]               into PREFIX/bin, PREFIX/lib, … [default: /usr/local]
#   ./install.sh --uninstall [PREFIX]   removes every file that was installed, and what else it made
set -eu
here=$(cd "$(dirname "$0")" && pwd)
undo=
if [ "${1:-}" = --uninstall ]; then undo=1; shift; fi
case ${1:-} in
    -*) sed -n 's/^# \{0,1\}//p' "$0" | sed 1d >&2; exit 2 ;;
esac
prefix=${1:-/usr/local}
list=$prefix/share/rocshim/installed

remove() { # what the list names, last first, so that a folder is empty when its turn comes
    sed -n '1!G;h;$p' "$list" | while IFS= read -r line; do
        case $line in
            ./) rmdir "$prefix" 2>/dev/null || : ;;
            */) rmdir "$prefix/$line" 2>/dev/null || : ;;
            *) rm -f "$prefix/$line" ;;
        esac
    done
}

if [ -n "$undo" ]; then
    [ -r "$list" ] || { echo "install.sh: nothing is installed in $prefix: there is no $list" >&2; exit 1; }
    remove
    echo "removed rocshim from $prefix"
    exit 0
fi

made=
[ -d "$prefix" ] || made=./
mkdir -p "$prefix" && [ -w "$prefix" ] || { echo "install.sh: $prefix cannot be written; give another folder: ./install.sh ~/.local" >&2; exit 1; }
if [ -r "$list" ]; then remove; fi # an older version, whose files may have other names
paths=$(mktemp)
trap 'rm -f "$paths"' EXIT

folder() { # PATH: makes it with all above it, and notes those that were not there
    [ ! -d "$prefix/$1" ] || return 0
    case $1 in */*) folder "${1%/*}" ;; esac
    mkdir "$prefix/$1"
    echo "$1/" >>"$paths"
}

[ -z "$made" ] || echo ./ >>"$paths"
folder share/rocshim
echo share/rocshim/installed >>"$paths"
(cd "$here" && find bin lib include share -type f | sort) | while IFS= read -r file; do
    folder "${file%/*}"
    # A new file in place of the old one: a process that has the old one mapped keeps it.
    cp "$here/$file" "$prefix/$file.new"
    mv -f "$prefix/$file.new" "$prefix/$file"
    echo "$file" >>"$paths"
done
cp "$paths" "$list"
echo "installed $("$prefix/bin/rocshim" --version | head -n 1) in $prefix; \`rocshim doctor\` says what it can see"
