#!/usr/bin/env python3
"""Writes docs/redis-data.md from lua/keys.tbl, or compares the table with the code.

Usage: docs/redis-keys.py markdown | check

check: every key that a script declares or C builds is in the table, every row is used, the commands fit the type, and the
fields of hashes that scripts name are in the table and the other way round. Prints what is wrong, and fails then.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = "lua/keys.tbl"
QUOTED = re.compile(r'"([^"]*)"')
C_FOLDERS = ("lib", "fcgi-app", "scheduler", "board", "reconcile", "sluicectl")
READS = {"EXISTS", "GET", "GETBIT", "GETRANGE", "HEXISTS", "HGET", "HGETALL", "HLEN", "HMGET", "LINDEX", "LLEN", "LRANGE", "PTTL",
         "SMEMBERS", "ZCARD", "ZCOUNT", "ZLEXCOUNT", "ZMSCORE", "ZRANGE", "ZRANGEBYLEX", "ZRANGEBYSCORE", "ZRANK",
         "ZREVRANGEBYSCORE", "ZSCORE"}
OF_ANY_TYPE = {"DEL", "EXISTS", "PEXPIRE", "PTTL", "RENAME", "UNLINK"}
STRINGS = {"GET", "SET", "GETBIT", "SETBIT", "GETRANGE", "SETRANGE"}
LINE = ["key_waiting", "key_priority", "key_draw", "key_drawn"]
HEAD = """# The data in Redis

<!-- Written by docs/generate-reference.sh from lua/keys.tbl: change it there. -->

All keys of Sluice begin with `sluice:`. Names in `<>` are placeholders; braces are part of the key: the keys of a queue have
its hash tag, so that they are in one slot of a cluster. There are no keys for single members
([0004](decisions/0004-no-keys-per-member.md)). PostgreSQL is the truth about orders, coupons, seats and settings; what Redis
has of these is a copy that `sluice-reconcile` can write again.

Unless it says otherwise, a time is in ms since 1970 by Redis TIME, and a number is a place number of the queue. A score of
number × 4096 + generation orders by number; the generation rises when another screen takes the place over.

"Ends" says what removes an entry. *Reset*: a reset of the queue (a new epoch) deletes the key, and so does the deletion of the
queue; *deletion*: only the latter does. No key of a queue expires by itself unless it says so. "Written by" names the scripts
of `lua/`, and programs that write without one."""


class Key:
    def __init__(self, pattern, kind, meaning, ends, programs):
        self.pattern, self.type, self.meaning, self.ends, self.programs = pattern, kind, meaning, ends, programs
        self.name = name_of(pattern)
        self.fields = {}
        self.writers = set()


def name_of(pattern):
    """What scripts call it: `show:info` of sluice:{<queue>}:show:<show>:info, `global tenures` of sluice:tenures."""
    tagged = re.fullmatch(r"sluice:\{[^}]*\}:(.+)", pattern)
    return re.sub(r"^show:<show>:", "show:", tagged[1]) if tagged else "global " + pattern.removeprefix("sluice:")


def read_table():
    """The keys of each section of the table, by its heading."""
    sections = {}
    keys = None
    for line in (ROOT / TABLE).read_text().splitlines():
        heading = re.fullmatch(r"/\* (.*) \*/", line)
        if heading:
            keys = sections.setdefault(heading[1], [])
        elif line.startswith("KEY("):
            pattern, meaning, ends, programs = QUOTED.findall(line)
            keys.append(Key(pattern, re.match(r'KEY\("[^"]*", (\w+),', line)[1], meaning, ends, programs))
        elif line.startswith("FIELD("):
            name, meaning = QUOTED.findall(line)
            keys[-1].fields[name] = meaning
    return sections


def scripts():
    """Each script's name and its text as Redis gets it, with the declarations of its keys as (variable, key)."""
    for path in sorted((ROOT / "lua").rglob("*.lua")):
        text = path.read_text()
        if not text.startswith("#!lua"):
            continue
        expanded = subprocess.run([ROOT / "scripts/embed-lua", "--expand", path], check=True, capture_output=True, text=True)
        declared = {}
        for kind, names in re.findall(r"^--@(keys|global) *(.*)$", text, re.M):
            for name in names.split():
                declared["key_" + re.sub(r"[-:]", "_", name)] = name if kind == "keys" else "global " + name
        yield path.stem, without_unused(expanded.stdout), declared


def without_unused(text):
    """Without the functions that are never called: an include may bring more than its script uses."""
    functions = {match[1]: match for match in re.finditer(r"^local function (\w+)\(.*?^end$", text, re.M | re.S)}
    rest = re.sub(r"^local function (\w+)\(.*?^end$", "", text, flags=re.M | re.S)
    used, todo = set(), set(re.findall(r"\w+", rest)) & set(functions)
    while todo:
        name = todo.pop()
        used.add(name)
        todo |= set(re.findall(r"\w+", functions[name][0])) & set(functions) - used
    for name, match in functions.items():
        if name not in used:
            text = text.replace(match[0], "")
    return text


def arguments_at(text, start):
    """The arguments of a call whose parenthesis opens before `start`."""
    found, depth, quoted, begin = [], 0, False, start
    for at in range(start, len(text)):
        char = text[at]
        if char == "'":
            quoted = not quoted
        elif quoted:
            continue
        elif char in "({[":
            depth += 1
        elif char in ")}]" and depth > 0:
            depth -= 1
        elif char in ",)" and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
            if char == ")":
                return found
    return found


def calls(text):
    """(command, variables of keys, arguments after the first key). `it.set` is any set of the line; a parameter is one of the
    keys that its function is called with."""
    for match in re.finditer(r"redis\.call\(", text):
        command, *words = arguments_at(text, match.end())
        if not words or command[0] != "'":
            continue
        command = command.strip("'")
        keys = re.findall(r"\bkey_\w+", " ".join(words) if command in OF_ANY_TYPE else words[0])
        if words[0] == "it.set":
            keys = LINE
        elif words[0] in ("set", "key") and command not in READS:
            keys = re.findall(r"\b(?:let_in|look_at)\((key_\w+)", text)
        yield command, keys, words[1:]
    for match in re.finditer(r"\bhash_fields\(key_", text):
        words = arguments_at(text, match.end() - 4)
        yield "HMGET", [words[0]], words[1:]


def fields_of(command, words):
    """The names of fields that a command has in its text."""
    if command == "HSET":
        words = words[::2]
    elif command not in ("HMGET", "HDEL"):
        words = words[:1]
    return [word[1:-1] for word in words if re.fullmatch(r"'[^']*'", word)]


def fits(command, kind):
    if command in OF_ANY_TYPE:
        return True
    if command in STRINGS:
        return kind == "string"
    if command[0] in "HZ":
        return kind == {"H": "hash", "Z": "zset"}[command[0]]
    return kind == ("set" if command in ("SADD", "SREM", "SMEMBERS") else "list")


def c_keys():
    """(file, name of a key) that C builds without a script."""
    for folder in C_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            text = path.read_text()
            where = path.relative_to(ROOT)
            for literal in re.findall(r'"(sluice:[^"]*)"', text):
                literal = literal.replace("{%.*s}", "{<>}").replace("show:%.*s:", "show:<show>:")
                # The others take the name as a parameter, or are the frame of all keys.
                if "%" not in literal and literal not in ("sluice:{", "sluice:{}:", "sluice:{queue}:"):
                    yield where, name_of(literal)
            builders = "redis_command_add_key"
            if '"sluice:{%.*s}:%s"' in text:
                builders += "|key_of"
            for name in re.findall(rf'\b(?:{builders})\([^;{{]*?"(\w+)"\)', text):
                yield where, name
            for name in re.findall(r'\bredis_command_show_key\([^;{]*?"(\w+)"\)', text):
                yield where, "show:" + name


def is_field(key, name, settings):
    return name in key.fields or ("*" in key.fields and name in settings)


def look(sections):
    """Adds the writers to the keys; returns what is wrong."""
    wrong, used = [], set()
    keys = {key.name: key for section in sections.values() for key in section}
    channels = {key.name for section in sections.values() for key in section if key.type == "channel"}
    tables = [path.read_text() for path in (ROOT / "lib").rglob("queue_settings.tbl")]
    settings = set(re.findall(r"^SETTING\((\w+),", "\n".join(tables), re.M))
    lua = ""
    for script, text, declared in scripts():
        lua += text
        for name in declared.values():
            used.add(name)
            if name not in keys:
                wrong.append(f"{TABLE}: there is no row for the key {name} of {script}.lua")
        for command, variables, words in calls(text):
            for variable in variables:
                key = keys.get(declared.get(variable))
                if not key:
                    continue
                if command not in READS:
                    key.writers.add(script)
                if not fits(command, key.type):
                    wrong.append(f"{TABLE}: {script}.lua calls {command} of {key.pattern}, which is a {key.type}")
                for name in fields_of(command, words) if key.type == "hash" else ():
                    if not is_field(key, name, settings):
                        wrong.append(f"{TABLE}: {key.pattern} has no field {name}, which {script}.lua uses")
    c_text = "".join(path.read_text() for folder in C_FOLDERS for path in (ROOT / folder).rglob("*.c"))
    for where, name in c_keys():
        used.add(name)
        if name not in keys:
            wrong.append(f"{TABLE}: there is no row for the key {name} of {where}")
    for key in keys.values():
        if key.name not in used:
            wrong.append(f"{TABLE}: nothing uses {key.pattern}")
        if key.type == "hash" and not key.fields:
            wrong.append(f"{TABLE}: {key.pattern} has no fields")
        for name in key.fields:
            plain = re.fullmatch(r"\w+|:\w+", name)
            if plain and f"'{name}'" not in lua and f'"{name}"' not in c_text and not re.search(rf"\b{name} = ", lua) \
                    and not is_composed(name, lua):
                wrong.append(f"{TABLE}: nothing uses the field {name} of {key.pattern}")
        if key.name not in channels and not key.writers and not key.programs:
            wrong.append(f"{TABLE}: nothing writes {key.pattern}")
    return sorted(set(wrong))


def is_composed(name, lua):
    """Whether scripts make the field's name of a word and an ending: way .. 'Ms'."""
    parts = re.fullmatch(r"([a-z]+)([A-Z]\w*)", name)
    return bool(parts) and f"'{parts[1]}'" in lua and f".. '{parts[2]}'" in lua


def cell(text):
    return text.replace("|", "\\|")


def code_placeholders(text):
    """Placeholders outside of code would be HTML."""
    return re.sub(r"`[^`]*`|<[^>]+>", lambda match: match[0] if match[0][0] == "`" else f"`{match[0]}`", text)


def markdown(sections):
    lines = [HEAD]
    for heading, keys in sections.items():
        lines += ["", f"## {heading}"]
        for key in keys:
            writers = ", ".join(f"`{name}`" for name in sorted(key.writers))
            writers += "; " * bool(writers and key.programs) + key.programs
            lines += ["", f"### `{key.pattern}`", "", f"{key.type}: {code_placeholders(key.meaning)}.", "",
                      f"- Ends: {key.ends[0].lower()}{code_placeholders(key.ends[1:])}."]
            if writers:
                lines.append(f"- Written by: {writers}.")
            if key.fields:
                lines += ["", "| field | value |", "|---|---|"]
                lines += [f"| {'others' if name == '*' else f'`{name}`'} | {cell(code_placeholders(meaning))} |"
                          for name, meaning in key.fields.items()]
    print("\n".join(lines))


def main():
    if sys.argv[1:] not in (["markdown"], ["check"]):
        print(__doc__, file=sys.stderr)
        return 64
    sections = read_table()
    wrong = look(sections)
    if sys.argv[1] == "markdown":
        markdown(sections)
        return 0
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
