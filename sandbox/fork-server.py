"""Runs Python programs as forks of this process, which has already imported some modules.

    python fork-server.py ADDRESS AFTER_FORK MODULE...

A client (tether) connects to the abstract Unix address and sends one line of JSON, `{"command", "environment",
"directory"}`, with the files for standard output and error. The server answers `pid N` when the program runs and
`exit N` when it has ended: its exit code, or 128 + the number of its signal. It kills the process group when the client
is gone, and the kernel kills the programs when the server is gone. The server closes the connection of a client whose
program it cannot run.

A fork first runs the Python code AFTER_FORK. A program is `python3 [-I] -c CODE [ARGUMENT...]` or a Python file with its
arguments. It gets an interpreter as a new process would have it, except for the modules that are already imported.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import time
import types

LONGEST_REQUEST = 2**20  # bytes
PR_SET_PDEATHSIG = 1


class Client:
    def __init__(self, connection):
        self.connection = connection
        self.received = b""
        self.files = []
        self.pid = None

    def receive(self):
        """Returns the request, or None while it is incomplete. Raises EOFError when the client is gone."""
        data, files, _, _ = socket.recv_fds(self.connection, 2**16, 2)
        self.received += data
        self.files += files
        if not data or self.pid is not None or len(self.received) > LONGEST_REQUEST:
            raise EOFError
        if not self.received.endswith(b"\n"):
            return None
        return json.loads(self.received)

    def tell(self, text):
        with contextlib.suppress(OSError):  # the client is gone, which select reports
            self.connection.sendall(text.encode())

    def close_files(self):
        for file in self.files:
            os.close(file)
        self.files = []

    def close(self):
        self.connection.close()
        self.close_files()


class Server:
    def __init__(self, listener):
        self.listener = listener
        self.clients = {}
        self.child_ended, self.wakeup = socket.socketpair()

    def serve(self):
        """Serves clients. Returns only in a fork, with the program to run."""
        for end in (self.child_ended, self.wakeup):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wakeup.fileno(), warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([self.listener, self.child_ended, *self.clients], [], [])
            for source in ready:
                if source is self.listener:
                    self.accept()
                elif source is self.child_ended:
                    self.child_ended.recv(2**16)
                    self.reap()
                elif source in self.clients:
                    program = self.hear(self.clients[source])
                    if program is not None:
                        return program

    def accept(self):
        connection, _ = self.listener.accept()
        # Any user of the machine can connect to an abstract address.
        _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user == os.getuid():
            self.clients[connection] = Client(connection)
        else:
            connection.close()

    def hear(self, client):
        """Reads from a client, and forks for a complete request. Returns the program in the fork, otherwise None."""
        try:
            request = client.receive()
            if request is None:
                return None
            program = Program(**request)
            pid = os.fork()
        except Exception as error:
            if not isinstance(error, EOFError):
                print(repr(error), file=sys.stderr, flush=True)
            self.drop(client)
            return None
        if pid == 0:
            program.take_over(client.files)
            self.close()
            return program
        # The fork does this too, since either process may be first.
        move_to_own_group(pid)
        client.close_files()
        client.pid = pid
        client.tell(f"pid {pid}\n")
        return None

    def drop(self, client):
        if client.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(client.pid, signal.SIGKILL)
        del self.clients[client.connection]
        client.close()

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            for client in [each for each in self.clients.values() if each.pid == pid]:
                client.pid = None  # the kernel may reuse the id from now on
                client.tell(f"exit {code if code >= 0 else 128 - code}\n")
                self.drop(client)

    def close(self):
        """Closes everything of the server in a fork."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (self.listener, self.child_ended, self.wakeup, *self.clients.values()):
            each.close()


def move_to_own_group(pid):
    with contextlib.suppress(OSError):  # the process has ended
        os.setpgid(pid, pid)


class Program:
    def __init__(self, command, environment, directory):
        self.environment = dict(variable.split("=", 1) for variable in environment)
        self.directory = directory
        self.server = os.getpid()
        isolated = command[1:2] == ["-I"]
        options = command[2:] if isolated else command[1:]
        if options[:1] == ["-c"]:
            self.arguments = options[:1] + options[2:]
            # An isolated program imports nothing from its working directory.
            self.import_path = None if isolated else ""
            self.code = compile(options[1], "<string>", "exec")
            self.file = None
        else:
            self.arguments = command
            self.file = command[0]
            self.import_path = os.path.dirname(os.path.realpath(self.file))
            with open(self.file, "rb") as file:
                self.code = compile(file.read(), self.file, "exec")

    def take_over(self, output):
        """Makes this fork look like a new process of the program."""
        move_to_own_group(0)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self.server:
            os._exit(128 + signal.SIGKILL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output[0], 1), (output[1], 2)):
            os.dup2(source, target)
        os.close(nothing)
        os.chdir(self.directory)
        os.environ.clear()
        os.environ.update(self.environment)
        time.tzset()
        tempfile.tempdir = None
        sys.argv = self.arguments
        if self.import_path is not None:
            sys.path.insert(0, self.import_path)
        main = types.ModuleType("__main__")
        if self.file is not None:
            main.__file__ = self.file
        sys.modules["__main__"] = main


def preload(names):
    for name in names:
        # A missing module fails later, when a program imports it.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # A fork has only one thread, so locks that other threads hold would stay locked.
    if len(os.listdir("/proc/self/task")) > 1:
        sys.exit("an import has started a thread")
    gc.collect()
    # Garbage collections in the forks skip these objects, so that their memory pages stay shared.
    gc.freeze()


if __name__ == "__main__":
    _, address, after_fork, *names = sys.argv
    del sys.path[0]  # the folder of this file
    # Listens before the imports, so that clients wait for their end.
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0" + address)
    listener.listen(128)
    print("listening", flush=True)
    preload(names)
    program = Server(listener).serve()
    exec(after_fork, {})
    exec(program.code, vars(sys.modules["__main__"]))
