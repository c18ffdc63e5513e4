"""A FastCGI client for one request at a time a connection: to speak to one pool past nginx, many at once."""

import asyncio
import json
import struct

BEGIN, END, PARAMS, STDIN, STDOUT = 1, 3, 4, 5, 6


class Answer:
    """Status, headers (names in small letters) and body."""

    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        self.headers = {}
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value
        self.status = int(self.headers["status"].split()[0])

    def __getitem__(self, name):
        return json.loads(self.body)[name]

    def json(self):
        return json.loads(self.body)


def _record(kind, content):
    return struct.pack("!BBHHBx", 1, kind, 1, len(content), 0) + content


def _request(path, headers, method):
    names = {"REQUEST_METHOD": method, "REQUEST_URI": path, "CONTENT_LENGTH": "0",
             **{"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers.items()}}
    params = b"".join(struct.pack("!BL", len(name), len(value.encode()) | 1 << 31) + name.encode() + value.encode()
                      for name, value in names.items())
    return (_record(BEGIN, struct.pack("!HB5x", 1, 0)) + _record(PARAMS, params) + _record(PARAMS, b"") +
            _record(STDIN, b""))


async def ask(socket, path, headers=None, method="GET"):
    """One request without a body."""
    reader, writer = await asyncio.open_unix_connection(str(socket))
    try:
        writer.write(_request(path, headers or {}, method))
        out = []
        while True:
            _, kind, _, length, padding = struct.unpack("!BBHHBx", await reader.readexactly(8))
            content = (await reader.readexactly(length + padding))[:length]
            if kind == STDOUT:
                out.append(content)
            elif kind == END:
                return Answer(b"".join(out))
    finally:
        writer.close()


def together(calls, seconds=30):
    """Many (socket, path), with headers and method if need be, at the same moment; answers in that order."""
    async def all_of_them():
        return await asyncio.wait_for(asyncio.gather(*(ask(*call) for call in calls)), seconds)
    return asyncio.run(all_of_them())


def get(socket, path, headers=None, seconds=30):
    return together([(socket, path, headers)], seconds)[0]
