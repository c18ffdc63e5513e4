"""Something between nginx and a pool: it counts nginx's FastCGI connections, hands each request on to the pool, and can
answer in its place, as a worker that has gone wrong would."""

import contextlib
import shutil
import socket
import struct
import threading

from lib.fastcgi import END, STDIN, STDOUT

HEAD = "!BBHHBx"


class Gone(Exception):
    """The other side has closed the connection."""


def exactly(link, size):
    data = b""
    while len(data) < size:
        got = link.recv(size - len(data))
        if not got:
            raise Gone
        data += got
    return data


def _records(link, is_last):
    """All records until the one of which is_last(kind, length) is true, as they are."""
    text = b""
    while True:
        head = exactly(link, 8)
        _, kind, _, length, padding = struct.unpack(HEAD, head)
        text += head + exactly(link, length + padding)
        if is_last(kind, length):
            return text


def answer(text, whole=True):
    """An answer in FastCGI's records; without its end where it is not whole."""
    raw = text.encode()
    out = struct.pack(HEAD, 1, STDOUT, 1, len(raw), 0) + raw
    return out + struct.pack(HEAD, 1, END, 1, 8, 0) + bytes(8) if whole else out


class FastcgiProxy:
    """Listens at `path` before the pool at `pool`. `opened` counts connections, `asked` requests. While `instead` is set,
    it takes from it what each request is answered with and whether the connection is closed then; (None, True) closes it
    without a word."""

    def __init__(self, path, pool):
        self.path, self.pool = path, pool
        self.opened = self.asked = 0
        self.instead = []
        self._links = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        path.chmod(0o666)
        self._listener.listen(64)
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self):
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            self.opened += 1
            self._links.append(link)
            thread = threading.Thread(target=self._serve, args=(link,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, link):
        with contextlib.suppress(Gone, OSError), link, socket.socket(socket.AF_UNIX) as pool:
            pool.connect(str(self.pool))
            while True:
                request = _records(link, lambda kind, length: kind == STDIN and length == 0)
                self.asked += 1
                text, closes = self.instead.pop(0) if self.instead else (None, False)
                if text is None and not closes:
                    pool.sendall(request)
                    text = _records(pool, lambda kind, _: kind == END)
                if text is not None:
                    link.sendall(text)
                if closes:
                    return

    def close_all(self):
        """Closes every connection, as a pool that starts anew does."""
        links, self._links = self._links, []
        for link in links:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def stop(self):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.close_all()
        for thread in self._threads:
            thread.join(20)
        self.path.unlink()

    def gate_files(self, gate, place):
        """A copy of the gate's files that asks here instead of the pool."""
        shutil.copytree(gate, place)
        for file in place.rglob("*.conf"):
            file.write_text(file.read_text().replace(str(gate), str(place)).replace(str(self.pool), str(self.path)))
        return place
