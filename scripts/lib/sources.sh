# shellcheck shell=bash
# sources.sh: the project's own files, without what builds and runs leave in the tree.

# source_files NAME-PATTERN...: paths from project_root of all files with such a name, one a line.
source_files()
{
    local pattern names=()
    for pattern in "$@"; do
        names+=(-o -name "$pattern")
    done
    (cd "$project_root" && find . \( -name .git -o -name 'build' -o -name 'build-*' -o -name data \
        -o -name autom4te.cache -o -name node_modules \) -prune -o -type f \( "${names[@]:1}" \) \
        -print | sed 's|^\./||' | sort)
}

# shell_scripts: every file that bash runs or sources.
shell_scripts()
{
    local file
    source_files '*.sh'
    while read -r file; do
        if [[ $(head -c 32 "$project_root/$file" | head -n 1) == '#!'*bash ]]; then
            printf '%s\n' "$file"
        fi
    done < <(cd "$project_root" && find scripts packaging tests .ci -type f ! -name '*.*' 2>/dev/null | sort)
}
