# shellcheck shell=bash debian.sh: packages of any Debian suite, without touching this machine's own
# apt. Sourced by the scripts that fetch.
#
# They have `fail MESSAGE`. Two variables are the user's: ROCSHIM_CACHE, ROCSHIM_DEBIAN_MIRROR
# (scripts/real-rocm --help).

# The cache folder.
cache_folder() {
    echo "${ROCSHIM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rocshim}"
}

# Sets WORK, an empty folder in the cache for this script, for one script at a time. False if
# RESULT, which the caller is about to create there, exists by now.
begin_work() {
    local cache result=$1
    cache=$(cache_folder)
    mkdir -p "$cache" || fail "there can be no folder $cache; set ROCSHIM_CACHE"
    exec 9>"$cache/lock"
    flock 9
    [ ! -d "$result" ] || return 1 # another one was faster
    rm -rf "$cache"/unfinished.* # of one that was interrupted
    WORK=$(mktemp -d "$cache/unfinished.XXXXXX") || fail "nothing can be written to $cache"
    trap 'rm -rf "$WORK"' EXIT
}

# A separate apt in WORK, with the lists of the given suites: it uses this machine's mirror, proxies
# and keys, and none of its state.
make_apt() {
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg suite
    command -v apt-get >/dev/null || fail "apt-get is needed to fetch Debian packages"
    [ -r $keys ] || fail "Debian's keys are needed in $keys (package debian-archive-keyring)"
    [ -n "$(mirror)" ] || fail "no Debian mirror in this machine's apt sources; set ROCSHIM_DEBIAN_MIRROR"
    mkdir -p "$WORK"/apt/{lists/partial,cache/archives/partial}
    : >"$WORK/apt/status"
    for suite; do
        echo "deb [signed-by=$keys] $(mirror) $suite main"
    done >"$WORK/apt/sources.list"
    cat >"$WORK/apt/apt.conf" <<END
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "0";
Acquire::Languages "none";
Dir::Etc::SourceList "$WORK/apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "$WORK/apt";
Dir::State::status "$WORK/apt/status";
Dir::Cache "$WORK/apt/cache";
APT::Sandbox::User "root";
APT::Install-Recommends "0";
APT::Update::Error-Mode "any";
END
    apt get update -qq || fail "the package lists could not be fetched from $(mirror)"
}

# shellcheck disable=SC2016 # apt's own variable
mirror() {
    echo "${ROCSHIM_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | grep '/debian/*$' | sort -u | head -n 1)}"
}

# apt get …, apt cache …
apt() {
    local command=$1
    shift
    "apt-$command" -c "$WORK/apt/apt.conf" "$@"
}
