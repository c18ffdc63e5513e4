"""Values for the fields of the document: such as fit their schema, such as nearly fit, and such as nobody would send."""

import copy

from lib.document import resolve

TEXTS = ["", " ", "a", "A", "-", "a" * 63, "a" * 64, "a" * 65, "a" * 300, "a" * 5000, "\0", "a\0b", "\r\nX-Evil: 1", "\x1b[31m", "\x7f", "é", "🎟", "\u202e",
         "\ud7ff", "'", "\"", "' OR 1=1 --", "{x}", "}{", "%00", "%s%n%x", "$(id)", "`id`", "../..", "//", "\\", "<script>", "null", "true", "NaN", "0", "-1",
         "1e9", "9" * 30, "2026-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "9999-12-31T23:59:60Z", "0000-00-00T00:00:00Z", "*", "?", "[a]", "a,b", "a;b", "a=b",
         "v~" + "A" * 22, "o_" + "A" * 22, "A" * 43, "eyJhbGciOiJub25lIn0.e30.", "https://evil.example/", "javascript:1", "::1", "0.0.0.0/0"]
NUMBERS = [0, 1, -1, 2, 0.5, -0.5, 99, 100, 101, 1000, 10000, 10001, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64, 10**25,
           1e300, 1e-300, -1e300, 1.0, 3.14, 100 * 1.1, 0.1 + 0.2, 122.99999999999999, 6.9999996, 1e-9, 0.9999999999, 0.1234567]
# Bodies as bytes, whatever is expected.
BODIES = [b"", b" ", b"{", b"}", b"[]", b"null", b"0", b'""', b'{"a"', b"{}{}", b'{"":0}', b"{\"a\":\"\xff\"}", b'{"a":"\\ud800"}', b'{"a":"\\u0000"}', b"\xef\xbb\xbf{}",
          b"[" * 3000, b'{"a":' * 3000, b"{\"a\":1e999}", b"{'a':1}", b"\0" * 100, b"a=b&c=d", b"--x\r\nContent-Disposition: form-data\r\n\r\n", b"<a/>",
          b"{" + b",".join(b'"n%d":0' % n for n in range(2000)) + b"}", b'{"seats":[' + b",".join([b'"A-1"'] * 4000) + b"]}", b"\x1f\x8b\x08\x00" + b"\0" * 50,
          b" " * 70000]
HEADERS = ["", " ", "\t", "a", "a" * 3000, "a" * 9000, "\xff\xfe", "\x01", "\x7f", "é", '"', "'", "..", ",", ";", "=", "a, b", "null", "0", "-1", "{x}", "%0d%0a", "Bearer",
           "Bearer ", "Bearer a.b.c", "Basic YTpi", "bearer x", "W/\"x\"", "*", "=;=;", "gzip", "chunked", "A" * 43, "v1.k1.x.y.z"]


class Values:
    """Chooses by `random`; `names` knows good names by the field that holds them: a function name → list."""

    def __init__(self, random, names):
        self.random, self.names = random, names

    def fitting(self, schema, field=""):
        """A value that fits the schema."""
        schema = resolve(schema)
        known = self.names(field)
        if known and "properties" not in schema and schema.get("type") != "array":
            return self.random.choice(known)
        for word in ("oneOf", "anyOf"):
            if word in schema:
                return self.fitting(self.random.choice(schema[word]), field)
        if "allOf" in schema:
            parts = [resolve(part) for part in schema["allOf"]]
            if all("properties" not in part for part in parts):
                return self.fitting(parts[0], field)
            return {name: value for part in parts for name, value in self._object(part).items()}
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = self.random.choice(kind)
        return getattr(self, "_" + kind)(schema, field)

    def _object(self, schema, _field=""):
        required = schema.get("required", [])
        return {name: self.fitting(part, name) for name, part in schema.get("properties", {}).items()
                if name in required or self.random.random() < 0.35}

    def _array(self, schema, field):
        least, most = schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)
        known = self.names(field)
        count = self.random.randint(least, max(least, most))
        if known:
            return self.random.sample(known, min(max(1, count), len(known)))
        return [self.fitting(schema["items"], field.removesuffix("s")) for _ in range(count)]

    def _string(self, schema, _field):
        if schema.get("format") == "date-time":
            return self.random.choice(["2026-01-01T00:00:00Z", "2100-01-01T00:00:00.000Z", "2026-06-01T09:00:00+09:00"])
        length = self.random.randint(max(1, schema.get("minLength", 1)), max(1, min(schema.get("maxLength", 12), 43)))
        return "".join(self.random.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(length))

    def _integer(self, schema, _field):
        least, most = schema.get("minimum", 0), schema.get("maximum", 1000)
        value = self.random.choice([least, most, self.random.randint(least, max(least, min(most, least + 50)))])
        step = schema.get("multipleOf", 1)
        return int(value) // step * step

    def _number(self, schema, _field):
        return self.random.choice([schema.get("minimum", 0), 10, 1000, 0.5, 100 * 1.1, 2.05, 5.833333, 1e-9])

    def _boolean(self, _schema, _field):
        return self.random.random() < 0.5

    def _null(self, _schema, _field):
        return None

    def strange(self):
        """Any value at all."""
        kind = self.random.randrange(9)
        if kind < 4:
            return self.random.choice(TEXTS)
        if kind < 6:
            return self.random.choice(NUMBERS)
        return self.random.choice([None, True, False, [], {}, [[]], [None], {"": 0}, [{}], {"a": {"a": {}}}, ["A-1"] * 100])

    def nearly(self, value):
        """The value with a change or two somewhere in it."""
        value = copy.deepcopy(value)
        for _ in range(self.random.randint(1, 2)):
            value = self._changed(value)
        return value

    def _changed(self, value):
        random = self.random
        if isinstance(value, dict) and value and random.random() < 0.9:
            name = random.choice(list(value))
            kind = random.randrange(6)
            if kind == 0:
                del value[name]
            elif kind == 1:
                value[random.choice(TEXTS)] = self.strange()
            elif kind == 2:
                value[name.swapcase()] = value.pop(name)
            elif kind == 3:
                value[name] = self.strange()
            else:
                value[name] = self._changed(value[name])
            return value
        if isinstance(value, list) and value and random.random() < 0.9:
            place = random.randrange(len(value))
            kind = random.randrange(4)
            if kind == 0:
                value.append(value[place])
            elif kind == 1:
                value[place] = self.strange()
            elif kind == 2:
                value *= random.choice([2, 30])
            else:
                value[place] = self._changed(value[place])
            return value
        return self.strange()
