"""Results as Markdown tables on standard output and as JSON in a file."""

import json
import statistics


def median(values):
    return statistics.median(values) if values else 0.0


def number(value, digits=2):
    """For people: 12,345 · 123.4 · 1.23."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{1 if abs(value) >= 100 else digits}f}"


def table(title, columns, rows, note=None):
    """A table of a result: columns are names, rows lists of as many values."""
    return {"title": title, "note": note, "columns": columns, "rows": rows}


def markdown(one):
    lines = [f"## {one['title']}", ""]
    if one.get("note"):
        lines += [one["note"], ""]
    lines += ["| " + " | ".join(one["columns"]) + " |", "|" + "---|" * len(one["columns"])]
    lines += ["| " + " | ".join(number(value) for value in row) + " |" for row in one["rows"]]
    return "\n".join(lines) + "\n"


def write(path, result):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def show(result):
    machine = result["machine"]
    print(f"# {result['name']}: {machine['cores']} × {machine['processor']}, {machine['memoryMb']:,} MB, "
          f"Linux {machine['kernel']}, load {machine['loadBefore']:.2f} before, commit {result['commit']}, "
          f"{result['seconds']:.0f} s\n")
    for one in result["tables"]:
        print(markdown(one))


def used_columns():
    return ["nginx", "queue pool", "order pool", "Redis", "PostgreSQL", "Redis commands/s", "Redis MB", "Redis connections"]


def used_row(used):
    """Shares of a core, and the rest of what used_columns() names."""
    share = used["cpu"].get
    return [share("nginx", 0.0), share("queue pool", 0.0), share("order pool", 0.0), share("redis", 0.0),
            share("postgres", 0.0), used["redisCommandsPerSecond"], used["redisMemoryMb"], used["redisConnections"]]
