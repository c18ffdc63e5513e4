"""The yardsticks beside a running system: another nginx with `return 200`, a hello worker, blocking workers, and the
hand-built form by nginx's Lua module, which asks the system's own Redis."""

import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

from bench.system import BUILD, ROOT, free_port, pinned

LUA_PACKAGES = ["libnginx-mod-http-lua", "libnginx-mod-http-ndk", "libluajit2-5.1-2", "lua-resty-core",
                "lua-resty-lrucache"]
LUA = BUILD / "bench-lua"
WORKERS = 4


def lua_module():
    """Debian's nginx Lua module, unpacked into the build folder (its LuaJIT would replace other packages'); None
    if it is not available, with the reason on standard error."""
    if not (LUA / "complete").exists():
        shutil.rmtree(LUA, ignore_errors=True)
        LUA.mkdir(parents=True)
        for command in (["apt-get", "-q", "download", *LUA_PACKAGES],
                        ["sh", "-c", "for file in *.deb; do dpkg-deb -x \"$file\" . || exit 1; done"]):
            done = subprocess.run(command, cwd=LUA, capture_output=True, text=True, check=False, timeout=300)
            if done.returncode != 0:
                print(f"bench: no hand-built yardstick: {done.stderr.strip()[-300:]}", flush=True)
                return None
        (LUA / "complete").touch()
    return LUA


def _resp(slots):
    """The pieces of a script call for hand_built.lua: ready text, and the names of slots."""
    from bench.members import Command
    return [piece if isinstance(piece, str) else piece.decode("latin-1") for piece in Command(slots).pieces]


def _lua(text):
    return '"' + "".join(f"\\{ord(c):03d}" if c in '"\\' or not " " <= c <= "~" else c for c in text) + '"'


class Yardsticks:
    """`with Yardsticks(system, cores, crowd) as front`: front.port serves them all."""

    def __init__(self, system, cores, crowd):
        self.system, self.cores, self.crowd = system, cores, crowd
        self.place = system.work / "yardsticks"
        self.port = free_port()
        self.processes = []
        self.has_lua = False

    def __enter__(self):
        try:
            self._write()
            self._workers("hello", [BUILD / "sluice-hello"])
            # It logs in to Redis as the queue pool, whose work it does.
            self._workers("blocking", [BUILD / "sluice-blocking", "--config", self.system.data / "sluice.conf"],
                          SLUICE_REDIS_USER="sluice-queue",
                          SLUICE_REDIS_PASSWORD_FILE=str(self.system.data / "secrets" / "redis-queue.key"))
            self._spawn(["nginx", "-p", self.place, "-e", "stderr", "-c", self.place / "nginx.conf", "-g", "daemon off;"],
                        LD_LIBRARY_PATH=str(LUA / "usr/lib/x86_64-linux-gnu"))
            self._wait()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _spawn(self, command, **environment):
        with open(self.place / "log", "ab") as log:
            self.processes.append(subprocess.Popen(
                pinned(self.cores, command), cwd=self.place, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **environment}))

    def _workers(self, name, command, **environment):
        self._spawn(["spawn-fcgi", "-s", self.place / f"{name}.sock", "-M", "0666", "-b", "1024", "-n", "--",
                     shutil.which("multiwatch"), "-f", WORKERS, "-s", "TERM", "--", *command],
                    **environment)

    def _write(self):
        (self.place / "tmp").mkdir(parents=True)
        (self.place / "web").mkdir()
        (self.place / "web" / "static.json").write_text('{"rank":12345,"status":"WAITING"}')
        shutil.copytree(self.system.place / "nginx" / "snippets", self.place / "snippets")
        temporary = self.place / "snippets" / "temporary_files.conf"
        temporary.write_text(temporary.read_text().replace(str(self.system.place / "nginx"), str(self.place)))
        values = {"PLACE": str(self.place), "PORT": str(self.port), "MODULES": "", "LUA": "", "LUA_LOCATION": "",
                  # Redis's socket is accessible only to its owner, and the Lua module connects from nginx's workers.
                  "USER_LINE": "user root;" if os.geteuid() == 0 else "",
                  "FILES": str(min(65536, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))}
        lua = lua_module()
        if lua:
            self.has_lua = True
            values.update(self._lua_parts(lua))
        text = (ROOT / "bench" / "yardsticks.conf.in").read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        (self.place / "nginx.conf").write_text(text)

    def _lua_parts(self, lua):
        signer, crowd = self.crowd.signer, self.crowd
        position, enter = (", ".join(map(_lua, _resp(slots))) for slots in (crowd.position_slots, crowd.enter_slots))
        (self.place / "bench_setup.lua").write_text(
            f"return {{ redis = 'unix:{self.system.place}/redis.sock', queue = '{crowd.queue}',\n"
            f"  ticket_key = {_lua(signer.ticket_key.decode('latin-1'))},\n"
            f"  ticket_header = '{signer.ticket_header.decode()}', login_header = '{signer.HEADER.decode()}',\n"
            f"  login_key = {_lua(signer.login_key.decode('latin-1'))},\n"
            f"  position = {{ {position} }},\n  enter = {{ {enter} }} }}\n")
        shutil.copy(ROOT / "bench" / "hand_built.lua", self.place)
        modules = lua / "usr/lib/nginx/modules"
        return {
            "MODULES": f"load_module {modules}/ndk_http_module.so;\nload_module {modules}/ngx_http_lua_module.so;",
            "LUA": f"lua_package_path '{self.place}/?.lua;{lua}/usr/share/lua/5.1/?.lua;;';\n"
                   "    init_by_lua_block { hand_built = require('hand_built') }",
            "LUA_LOCATION": """
        location /v1/queues/ {
            include snippets/rate_limits.conf;
            location ~ /position$ { content_by_lua_block { hand_built.position() } }
            location ~ /entries$ { content_by_lua_block { hand_built.enter() } }
        }"""}

    def _wait(self):
        import urllib.request
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + 20
        while True:
            try:
                for path in ("return200", "hello"):
                    opener.open(f"http://127.0.0.1:{self.port}/{path}", timeout=5).read()
                return
            except OSError as fault:
                if time.monotonic() > deadline:
                    raise SystemExit(f"the yardsticks did not start ({fault}): "
                                     + Path(self.place / "log").read_text()[-2000:]) from fault
                time.sleep(0.05)
