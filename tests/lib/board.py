"""sluice-board beside the parts of a test, and what nginx makes of its files."""

import os
import shutil

from lib.processes import Process
from lib.wait import until


class Board:
    """The writers of boards, and what nginx makes of their files."""

    def __init__(self, parts):
        self.parts, self.api = parts, parts.api
        self.directory = parts.directory / "board"
        self.writers = []
        self.make_directory()

    def make_directory(self):
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)

    def environment(self, **settings):
        settings = {"board_directory": self.directory, **settings}
        return {**self.parts.environment, **{f"SLUICE_{name.upper()}": str(value) for name, value in settings.items()}}

    def start(self, **settings):
        # As scripts/run starts it: its own files are nobody else's business, these are everybody's.
        before = os.umask(0o077)
        try:
            writer = Process("board", [self.parts.build / "sluice-board", "--config", self.parts.config],
                             self.parts.logs / "board.log", env=self.environment(**settings), cwd=self.parts.directory)
        finally:
            os.umask(before)
        self.writers.append(writer)
        return writer

    def file(self, queue):
        return self.directory / f"{queue}.json"

    def read(self, queue, headers=None, method="GET"):
        return self.api.call(method, f"/_sluice/board/{queue}.json", headers)

    def is_file(self, queue):
        """Whether nginx answers from the file."""
        answer = self.read(queue)
        return answer.status == 200 and "etag" in answer.headers

    def wait_for(self, queue, seconds=3.0):
        until(lambda: self.is_file(queue), seconds, f"board of {queue}")

    def stop(self):
        for writer in self.writers:
            if writer.alive():
                assert writer.stop(seconds=15) == 0
        shutil.rmtree(self.directory)
