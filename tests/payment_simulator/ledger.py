"""What was taken and what was given back, in an SQLite file: committed means that a kill takes nothing away."""

import contextlib
import json
import sqlite3
import threading

TABLES = """
CREATE TABLE IF NOT EXISTS payment (
    ref TEXT PRIMARY KEY,           -- tid, paymentKey
    api TEXT NOT NULL,              -- kakaopay, toss
    page TEXT NOT NULL UNIQUE,      -- the token in the page's address
    order_id TEXT NOT NULL,         -- the shop's name for it
    user_id TEXT NOT NULL,
    cid TEXT NOT NULL,
    item_name TEXT NOT NULL,
    item_code TEXT,
    quantity INTEGER NOT NULL,
    total INTEGER NOT NULL CHECK (total > 0),
    tax_free INTEGER NOT NULL,
    vat INTEGER NOT NULL,
    currency TEXT NOT NULL DEFAULT 'KRW',
    approve_url TEXT NOT NULL,
    cancel_url TEXT NOT NULL,
    fail_url TEXT NOT NULL,
    status TEXT NOT NULL,
    method TEXT,
    declines TEXT,                  -- what the person chose: approving it will fail with this
    pg_token TEXT,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    approved_at REAL,
    canceled_at REAL,
    failure TEXT,
    canceled INTEGER NOT NULL DEFAULT 0,
    canceled_tax_free INTEGER NOT NULL DEFAULT 0,
    canceled_vat INTEGER NOT NULL DEFAULT 0,
    CHECK (canceled BETWEEN 0 AND total)
);
CREATE INDEX IF NOT EXISTS payment_by_order ON payment (order_id);
CREATE TABLE IF NOT EXISTS action (
    aid TEXT PRIMARY KEY,
    ref TEXT NOT NULL REFERENCES payment,
    kind TEXT NOT NULL CHECK (kind IN ('PAYMENT', 'CANCEL')),
    amount INTEGER NOT NULL CHECK (amount > 0),
    tax_free INTEGER NOT NULL,
    vat INTEGER NOT NULL,
    at REAL NOT NULL,
    note TEXT
);
CREATE INDEX IF NOT EXISTS action_by_payment ON action (ref);
CREATE UNIQUE INDEX IF NOT EXISTS taken_once ON action (ref) WHERE kind = 'PAYMENT';
CREATE TABLE IF NOT EXISTS call (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    api TEXT NOT NULL,
    name TEXT NOT NULL,
    subject TEXT NOT NULL,          -- ref, or order_id where there is none yet
    faults TEXT NOT NULL,
    status INTEGER,                 -- of the answer; 0: none was given; NULL: not yet over
    code TEXT
);
CREATE INDEX IF NOT EXISTS call_by_subject ON call (name, subject);
CREATE TABLE IF NOT EXISTS remembered (
    key TEXT NOT NULL,              -- Idempotency-Key
    place TEXT NOT NULL,            -- method and path
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (key, place)
);
CREATE TABLE IF NOT EXISTS behaviour (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), text TEXT NOT NULL);
"""


class Ledger:
    """One connection under one lock: calls are short, and nothing is ever half done."""

    def __init__(self, path):
        self.lock = threading.RLock()
        self.db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.db.row_factory = sqlite3.Row
        # What a killed process has written is still there; only a power cut could take it.
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute("PRAGMA foreign_keys = ON")
        self.db.executescript(TABLES)

    @contextlib.contextmanager
    def transaction(self):
        """All or nothing, and alone."""
        with self.lock:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
            except BaseException:
                self.db.execute("ROLLBACK")
                raise
            self.db.execute("COMMIT")

    def rows(self, text, *values):
        with self.lock:
            return [dict(row) for row in self.db.execute(text, values)]

    def row(self, text, *values):
        found = self.rows(text, *values)
        return found[0] if found else None

    def payment(self, ref):
        return self.row("SELECT * FROM payment WHERE ref = ?", ref)

    def insert(self, table, **columns):
        names = ", ".join(columns)
        marks = ", ".join("?" * len(columns))
        self.db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(columns.values()))

    def update(self, ref, **columns):
        changes = ", ".join(f"{name} = ?" for name in columns)
        self.db.execute(f"UPDATE payment SET {changes} WHERE ref = ?", [*columns.values(), ref])

    # For tests

    def listing(self, order_id=None):
        """Every payment with the money that it moved, and the sums."""
        payments = self.rows(
            """SELECT payment.*, taken, given_back, takes, gives
                 FROM payment, (SELECT payment.ref AS of,
                                       coalesce(sum(amount) FILTER (WHERE kind = 'PAYMENT'), 0) AS taken,
                                       coalesce(sum(amount) FILTER (WHERE kind = 'CANCEL'), 0) AS given_back,
                                       count(*) FILTER (WHERE kind = 'PAYMENT') AS takes,
                                       count(*) FILTER (WHERE kind = 'CANCEL') AS gives
                                  FROM payment LEFT JOIN action USING (ref) GROUP BY payment.ref)
                WHERE of = ref AND (?1 IS NULL OR order_id = ?1) ORDER BY created_at, ref""", order_id)
        return {"payments": payments, "taken": sum(row["taken"] for row in payments),
                "given_back": sum(row["given_back"] for row in payments)}

    def calls(self, order_id=None):
        return self.rows(
            """SELECT call.* FROM call LEFT JOIN payment ON ref = subject
                WHERE ?1 IS NULL OR subject = ?1 OR order_id = ?1 ORDER BY id""", order_id)

    def behaviour(self):
        found = self.row("SELECT text FROM behaviour")
        return json.loads(found["text"]) if found else {}

    def set_behaviour(self, value):
        with self.transaction():
            self.db.execute("INSERT OR REPLACE INTO behaviour VALUES (1, ?)", [json.dumps(value)])
