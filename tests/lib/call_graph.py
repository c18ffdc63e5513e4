"""What each program can come to: the queries and scripts that its code names, however far down.

Reads the C sources as text: whatever a function, or a table of functions, names counts as called. That may be more than what is
ever called, and never less.
"""

import functools
import re

from lib.project import ROOT

LAYERS = ("lib", "fcgi-app", "scheduler", "board", "reconcile", "sluicectl")
POOLS = ("queue", "order", "payment", "operator", "catalog")
_COMMENT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
_COMMAND = re.compile(r"redis_command_(?:new|next)\([^;]*?\);", re.S)
_TEXT = re.compile(r'"(\w+)"')
_WORD = re.compile(r"[A-Za-z_]\w*")
# Looks which route one is by what it calls, and calls none of them.
_ONLY_COMPARES = {("fcgi-app/pool/shedding.c", "kind_of_line")}


def _blocks(text):
    """What stands in braces at the left margin of the language, with the words before it."""
    depth, begun, opened = 0, 0, 0
    for match in re.finditer(r"[{};]", text):
        if match.group() == "{":
            opened = match.start() if depth == 0 else opened
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                yield text[begun:opened], text[opened:match.end()]
                # The rest of `struct a {…} name = {…}` goes on.
                begun = match.end() if "=" in text[begun:opened] or ")" in text[begun:opened] else begun
        elif depth == 0:
            begun = match.end()


def _name_of(head):
    """Of a function: the word before its first bracket; of a table: the word before [ or =."""
    found = re.search(r"(\w+)\s*\(", head) if "=" not in head else re.search(r"(\w+)\s*(?:\[[^=]*)?=", head)
    return found.group(1) if found else None


@functools.cache
def _nodes():
    """(file, name) → words that it names; and name → files that define it for others."""
    named, public = {}, {}
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.c")):
            text = _COMMAND.sub(lambda match: _TEXT.sub(r"COMMAND_\1", match.group()), path.read_text())
            text = _COMMENT.sub(lambda match: " 0 ", text)
            text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.M | re.S)
            file = str(path.relative_to(ROOT))
            for head, body in _blocks(text):
                name = _name_of(head)
                if name:
                    named.setdefault((file, name), set()).update(_WORD.findall(head + body))
                    if not re.search(r"\bstatic\b", head):
                        public.setdefault(name, []).append(file)
    return named, public


def _reach(starts):
    named, public = _nodes()
    seen, open_ends = set(), list(starts)
    while open_ends:
        node = open_ends.pop()
        if node in seen or node in _ONLY_COMPARES:
            continue
        seen.add(node)
        for word in named[node]:
            if (node[0], word) in named:
                open_ends.append((node[0], word))
            else:
                open_ends += [(file, word) for file in public.get(word, ()) if file.split("/")[0] in ("lib", node[0].split("/")[0])]
    return {word for node in seen for word in named[node]}


def _pool_starts(pool):
    """The routes of the pool, its loop, and what it opens beforehand."""
    _, public = _nodes()
    rows = re.findall(r"^(LINE_ROUTE|TRANSACTION_ROUTE|ROUTE)\((.*)\)$", (ROOT / "fcgi-app/routes.tbl").read_text(), re.M)
    words = {"event_loop_run" if pool == "queue" else "blocking_loop_run"}
    for kind, row in rows:
        cells = [cell.strip() for cell in row.split(",")]
        if kind == "LINE_ROUTE" and pool == "queue":
            words |= {f"{cells[2]}_begin", f"{cells[2]}_finish"}
        elif kind == "TRANSACTION_ROUTE" and pool == "order":
            words |= {f"{cells[2]}_begin", f"{cells[2]}_end"}
        elif kind == "ROUTE" and (cells[0] == pool.upper() or cells[0] == "ANY"):
            words.add(cells[3])
    if pool in ("order", "catalog"):
        words.add("catalog_open")
    assert all(word in public for word in words), [word for word in words if word not in public]
    return [(file, word) for word in words for file in public[word]]


@functools.cache
def _words_of(program):
    if program in POOLS:
        starts = _pool_starts(program)
    else:
        folder = "sluicectl" if program == "doctor" else program
        starts = [node for node in _nodes()[0] if node[0].startswith(folder + "/")]
    return _reach(starts)


def _named(program, kind, others=()):
    return {word[len(kind):].lower() for word in _words_of(program) if word.startswith(kind) and word not in others}


def queries(program):
    """The names of the queries that a program can come to, as of their files in sql/queries."""
    return _named(program, "QUERY_", {"QUERY_COUNT"})


def scripts(program):
    """The names of the scripts that it can come to, as of their files in lua."""
    return _named(program, "SCRIPT_", {"SCRIPT_COUNT", "SCRIPT_ROWS"})


def commands(program):
    """The commands of Redis that it sends by themselves."""
    return _named(program, "COMMAND_")


def names(program, word):
    """Whether something that it can come to names `word`."""
    return word in _words_of(program)
