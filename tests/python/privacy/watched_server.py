"""A server whose every trace can be searched: own folders for what it might write, and its system calls."""

import os
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Where programs leave files that nobody named.
SHARED_FOLDERS = [Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")]
PLACES = {"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data",
          "XDG_STATE_HOME": "state", "XDG_RUNTIME_DIR": "runtime", "TMPDIR": "temporary"}
# Of calls that send only the flags matter: without a connection they need one that connects.
TRACED_CALLS = ("connect,socket,bind,sendto,sendmsg,sendmmsg,io_uring_setup,open,openat,openat2,creat,mkdir,mkdirat,"
                "mknod,mknodat,link,linkat,symlink,symlinkat,rename,renameat,renameat2,memfd_create,prctl,execve")


class Traces:
    """Private folders for one server, and a search for words in them, and in what the system shares."""

    def __init__(self, folder: Path):
        self.folder = folder / "private"
        self.started = time.time() - 2  # file systems keep coarse times
        self.work = self.folder / "work"
        for name in ["work", *PLACES.values()]:
            (self.folder / name).mkdir(mode=0o700, parents=True)

    def environment(self) -> dict[str, str]:
        return {**os.environ, **{variable: str(self.folder / name) for variable, name in PLACES.items()}}

    def files(self) -> list[Path]:
        """What is in the private folders."""
        return [path for path in self.folder.rglob("*") if not path.is_dir()]

    def files_with(self, words: list[str]) -> list[Path]:
        """Files that hold one of `words`, in the name or the content: private ones, and new ones that lie openly."""
        shared = [path for folder in SHARED_FOLDERS for pattern in ("*", "*/*") for path in folder.glob(pattern)]
        needles = [word.encode() for word in words]
        return [path for path in [*self.folder.rglob("*"), *shared] if self._holds(path, needles)]

    def _holds(self, path: Path, needles: list[bytes]) -> bool:
        if any(needle in os.fsencode(path.name) for needle in needles):
            return True
        try:
            status = path.lstat()
            # Of size 0 are also the files of /proc, and reading one of them may never end.
            if not stat.S_ISREG(status.st_mode) or status.st_mtime < self.started or status.st_size == 0:
                return False
            content = path.read_bytes()
        except OSError:  # another program's, or gone by now
            return False
        return any(needle in content for needle in needles)


def allow_large_cores():
    """For a child before its program starts."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def dumps_core(process: subprocess.Popen) -> bool:
    """Waits for the end by SIGSEGV; whether the kernel wrote a core."""
    _, status = os.waitpid(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == -signal.SIGSEGV
    return os.WCOREDUMP(status)


def machine_dumps_cores() -> bool:
    """Whether the crash of a program that does not mind leaves a core here."""
    with tempfile.TemporaryDirectory() as folder:
        crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
        return dumps_core(subprocess.Popen([sys.executable, "-c", crash], cwd=folder, preexec_fn=allow_large_cores))


class SystemCalls:
    """What strace wrote down: (name, the rest of the line) of every call, also of those that ended later."""

    LINE = re.compile(r"^(\d+) +(\w+)\((.*)$")

    def __init__(self, log: Path):
        self.log = log

    def command(self, binary: Path) -> list[str]:
        return ["strace", "-f", "-qq", "-s", "0", "--seccomp-bpf", "-e", f"trace={TRACED_CALLS}", "-o", str(self.log),
                str(binary)]

    def program_pid(self) -> int:
        return int(self.log.read_text().split(maxsplit=1)[0])

    def calls(self) -> list[tuple[str, str]]:
        matches = [self.LINE.match(line) for line in self.log.read_text().splitlines()]
        return [(match[2], match[3]) for match in matches if match]

    def named(self, *names: str) -> list[str]:
        return [f"{name}({rest}" for name, rest in self.calls() if name in names]

    def written_files(self) -> list[str]:
        """Calls that open a file for writing or put a name into a folder."""
        opened = [call for call in self.named("open", "openat", "openat2")
                  if re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE", call) and '"/dev/null"' not in call]
        return opened + self.named("creat", "mkdir", "mkdirat", "mknod", "mknodat", "link", "linkat", "symlink",
                                   "symlinkat", "rename", "renameat", "renameat2")
