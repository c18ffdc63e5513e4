"""table.py ROWS JSON: prints the runs of a benchmark as a table and writes them as JSON.

ROWS has a line a run: its name, a tab, and what sluice-load printed.
"""
import json
import os
import sys

COLUMNS = [
    ("run", "name", "{}"),
    ("req/s", "achievedPerSecond", "{:.0f}"),
    ("p50 ms", "p50Ms", "{:.2f}"),
    ("p90 ms", "p90Ms", "{:.2f}"),
    ("p95 ms", "p95Ms", "{:.2f}"),
    ("p99 ms", "p99Ms", "{:.2f}"),
    ("max ms", "maxMs", "{:.1f}"),
    ("errors", "errors", "{}"),
    ("dropped", "dropped", "{}"),
    ("coupons", "issued", "{}"),
    ("late ms", "senderLateP99Ms", "{:.2f}"),
]


def main():
    runs = []
    with open(sys.argv[1], encoding="utf-8") as rows:
        for row in rows:
            name, found = row.rstrip("\n").split("\t", 1)
            runs.append({"name": name, **json.loads(found)})
    texts = [[head for head, _, _ in COLUMNS]]
    texts += [[form.format(run[field]) for _, field, form in COLUMNS] for run in runs]
    widths = [max(len(text[i]) for text in texts) for i in range(len(COLUMNS))]
    for text in texts:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(text, widths))))
    machine = {"cores": os.cpu_count(), "kernel": os.uname().release, "architecture": os.uname().machine}
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        json.dump({"machine": machine, "runs": runs}, out, indent=2)
        out.write("\n")
    print(f"written to {sys.argv[2]}")


main()
