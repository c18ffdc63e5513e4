"""The ways between the parts, so that they can be slow, cut, silent or deaf.

A program of its own stands on each way between a program of ours and a server. Modes of a way:

    through     nothing is wrong
    slow MS     each piece of data is that late, in both directions
    cut         connections are reset, new ones as well
    silent      nothing arrives, in either direction, and nobody is told (half-open); what was sent meanwhile arrives, late,
                when the way is good again: also requests that nobody waits for any more
    deaf        requests arrive, answers are lost; the connections are reset when the way is good again
"""

import asyncio
import json
import socket
import sys
from pathlib import Path

from lib.processes import Process
from lib.wait import until

PIECE = 65536


class Way:
    """One way: where it listens, where it leads."""

    def __init__(self, listen, target):
        self.listen, self.target = listen, target
        self.mode, self.delay = "through", 0.0
        self.good = asyncio.Event()
        self.good.set()
        self.open, self.spoiled = set(), set()

    async def serve(self):
        if isinstance(self.listen, int):
            return await asyncio.start_server(self.accept, "127.0.0.1", self.listen)
        return await asyncio.start_unix_server(self.accept, self.listen)

    async def _connect(self):
        if isinstance(self.target, int):
            return await asyncio.open_connection("127.0.0.1", self.target)
        return await asyncio.open_unix_connection(self.target)

    async def accept(self, reader, writer):
        pair = {writer}
        self.open.add(writer)
        try:
            if self.mode == "cut":
                return
            await self._pass()
            there, target = await self._connect()
            pair.add(target)
            self.open.add(target)
            await asyncio.wait([asyncio.ensure_future(self._pump(reader, target, False, pair)),
                                asyncio.ensure_future(self._pump(there, writer, True, pair))],
                               return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            pass
        finally:
            for one in pair:
                self.open.discard(one)
                self.spoiled.discard(one)
                one.transport.abort()

    async def _pass(self):
        if self.mode == "silent":
            await self.good.wait()
        elif self.mode == "slow":
            await asyncio.sleep(self.delay)

    async def _pump(self, reader, writer, is_answer, pair):
        try:
            while data := await reader.read(PIECE):
                await self._pass()
                if is_answer and self.mode == "deaf":
                    self.spoiled |= pair
                    continue
                if is_answer and writer in self.spoiled:
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass

    def set(self, mode, delay_ms=0):
        self.mode, self.delay = mode, delay_ms / 1000
        if mode == "silent":
            self.good.clear()
        else:
            self.good.set()
        if mode == "cut":
            for writer in list(self.open):
                writer.transport.abort()
        if mode != "deaf":
            for writer in list(self.spoiled):
                writer.transport.abort()


async def main(control, description):
    ways = {name: Way(listen, target) for name, (listen, target) in json.loads(description).items()}
    servers = [await way.serve() for way in ways.values()]

    async def obey(reader, writer):
        name, mode, delay = (await reader.readline()).decode().split()
        for key in ways if name == "*" else [name]:
            ways[key].set(mode, int(delay))
        writer.write(b"done\n")
        await writer.drain()
        writer.close()
    servers.append(await asyncio.start_unix_server(obey, control))
    await asyncio.gather(*(server.serve_forever() for server in servers))


class Links:
    """The program seen from outside. `ways`: name → (where it listens, where it leads), paths or ports."""

    def __init__(self, directory, ways):
        self.directory, self.ways = directory, ways
        self.control = str(directory / "links.sock")
        self.process = None

    def start(self):
        self.process = Process("links", ["/usr/bin/python3", "-m", "chaos.links", self.control, json.dumps(self.ways)],
                               self.directory / "links.log", cwd=Path(__file__).resolve().parents[1])
        until(lambda: self.set("*", "through"), 10, "the ways between the parts")
        return self

    def set(self, name, mode, delay_ms=0):
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(5)
            link.connect(self.control)
            link.sendall(f"{name} {mode} {delay_ms}\n".encode())
            return link.recv(16) == b"done\n"


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
