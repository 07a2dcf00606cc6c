# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL nodes under Patroni and etcd, in one directory, without any service of the system.

They listen on loopback. With a Switch, each has a network of its own that can be cut off.
"""
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import yaml

USER = "stator"
DATABASE = "stator"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Loopback:
    """The network of all nodes, if none is to be cut off."""

    address = "127.0.0.1"

    def join(self, _):
        return self.address, []

    def close(self):
        pass


class Switch:
    """A network namespace for each node, joined by a bridge. Needs root, and a namespace of the program's own."""

    address = "10.77.0.1"

    def __init__(self):
        self.holders = []
        self.ip("link", "set", "lo", "up")
        self.ip("link", "add", "switch", "type", "bridge")
        self.ip("addr", "add", f"{self.address}/24", "dev", "switch")
        self.ip("link", "set", "switch", "up")

    @staticmethod
    def ip(*arguments, within=()):
        subprocess.run([*within, "ip", *arguments], check=True)

    def join(self, number):
        """The address of node `number`, 1 or more, and what its commands begin with."""
        holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self.holders.append(holder)
        own = os.readlink("/proc/self/ns/net")
        wait_until("a namespace", 10, lambda: os.readlink(f"/proc/{holder.pid}/ns/net") != own)
        within = ["nsenter", "--target", str(holder.pid), "--net"]
        address = f"10.77.0.{number + 1}"
        self.ip("link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        self.ip("link", "set", f"port{number}", "master", "switch", "up")
        self.ip("link", "set", "lo", "up", within=within)
        self.ip("addr", "add", f"{address}/24", "dev", "eth0", within=within)
        self.ip("link", "set", "eth0", "up", within=within)
        return address, within

    def cut(self, number):
        self.ip("link", "set", f"port{number}", "down")

    def mend(self, number):
        self.ip("link", "set", f"port{number}", "up")

    def close(self):
        for holder in self.holders:
            holder.kill()
            holder.wait()


def wait_until(what, seconds, condition):
    """The first value of `condition` that is true. An Exception counts as false."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if found := condition():
                return found
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.1)


class Process:
    """A program that runs until it is stopped by its id. PostgreSQL refuses to run as root."""

    def __init__(self, command, log, within=()):
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        with open(log, "ab") as output:
            # Their user might not have access to the current directory: Patroni would wait forever.
            self.process = subprocess.Popen([*within, *command], stdout=output, stderr=output, cwd="/")
        self.pid = self.process.pid

    def wait(self):
        self.process.wait(60)


class Node:
    """One PostgreSQL server and the Patroni that looks after it."""

    def __init__(self, directory, number, network, etcd_port, passwords):
        self.number = number
        self.name = f"node{number}"
        self.address, self.within = network.join(number)
        self.directory = directory / self.name
        self.directory.mkdir()
        self.port = free_port()
        self.rest_port = free_port()
        self.data = self.directory / "data"
        binaries = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        with open(pathlib.Path(__file__).parent / "patroni.yml") as file:
            settings = yaml.safe_load(file)
        rest, postgres = f"{self.address}:{self.rest_port}", f"{self.address}:{self.port}"
        settings["name"] = self.name
        settings["restapi"] = {"listen": rest, "connect_address": rest}
        settings["etcd3"]["hosts"] = f"{network.address}:{etcd_port}"
        settings["postgresql"] |= {
            "listen": postgres, "connect_address": postgres, "data_dir": str(self.data), "bin_dir": str(binaries),
            "pgpass": str(self.directory / "pgpass"),
            "parameters": {"shared_buffers": "32MB", "unix_socket_directories": str(self.directory)}}
        settings["postgresql"]["pg_hba"][0] = "local all all trust"  # their user can have another name
        for role, login in settings["postgresql"]["authentication"].items():
            login["password"] = passwords[role]
        self.configuration = self.directory / "patroni.yml"
        self.configuration.write_text(yaml.safe_dump(settings))
        self.configuration.chmod(0o600)

    def start(self):
        self.patroni = Process(["patroni", str(self.configuration)], self.directory / "log", self.within)

    def ask(self, path):
        """The status of Patroni's REST API, or 0."""
        try:
            with urllib.request.urlopen(f"http://{self.address}:{self.rest_port}/{path}", timeout=2) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def pids(self):
        """Of the Patroni, and of the PostgreSQL with its children."""
        found = [self.patroni.pid]
        try:
            postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
            children = pathlib.Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
            found += [postmaster, *map(int, children.split())]
        except (OSError, IndexError):
            pass
        return found

    def signal_all(self, number):
        for pid in self.pids():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """As if the machine lost its power, but the disk keeps what the kernel has."""
        self.signal_all(signal.SIGKILL)
        self.patroni.wait()


class Nodes:
    """etcd and `count` nodes, one of them the primary. Use as a context; leaves nothing behind."""

    def __init__(self, directory, count=3, network=None):
        self.directory = pathlib.Path(directory)
        self.network = network or Loopback()
        address = self.network.address
        if os.geteuid() == 0:
            os.chown(self.directory, pwd.getpwnam("postgres").pw_uid, -1)
        self.passwords = {name: secrets.token_hex(16) for name in ("superuser", "replication", USER)}
        client, peer = free_port(), free_port()
        self.etcd_command = [
            "etcd", "--data-dir", str(self.directory / "etcd"), "--listen-client-urls", f"http://{address}:{client}",
            "--advertise-client-urls", f"http://{address}:{client}", "--listen-peer-urls", f"http://{address}:{peer}",
            "--initial-advertise-peer-urls", f"http://{address}:{peer}", "--initial-cluster",
            f"default=http://{address}:{peer}", "--logger", "zap", "--log-level", "error"]
        self.nodes = [Node(self.directory, number + 1, self.network, client, self.passwords)
                      for number in range(count)]

    def __enter__(self):
        for path in (self.directory, *self.directory.rglob("*")):
            if os.geteuid() == 0:
                shutil.chown(path, "postgres", "postgres")
        self.etcd = Process(self.etcd_command, self.directory / "etcd.log")
        for node in self.nodes:
            node.start()
        try:
            wait_until("a primary and its synchronous standby", 120,
                       lambda: self.primary() and any(node.ask("synchronous") == 200 for node in self.nodes))
            self.sql(f"CREATE ROLE {USER} LOGIN PASSWORD '{self.passwords[USER]}'", "postgres")
            self.sql(f"CREATE DATABASE {DATABASE} OWNER {USER}", "postgres")
            # libpq does not try the next host if this one does not know the database yet.
            for node in self.nodes:
                wait_until("the database on each node", 60,
                           lambda node=node: self.psql(node, "SELECT 1", DATABASE).returncode == 0)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.signal_all(signal.SIGCONT)
            node.kill()
        self.etcd.process.kill()
        self.etcd.wait()
        self.network.close()

    def primary(self):
        """The node that may write, or None."""
        return next((node for node in self.nodes if node.ask("primary") == 200), None)

    def is_replicated(self):
        """Whether all nodes but the primary follow it, one of them synchronously."""
        primary = self.primary()
        standbys = [node for node in self.nodes if node is not primary]
        return (primary and all(node.ask("replica") == 200 for node in standbys)
                and any(node.ask("synchronous") == 200 for node in standbys))

    def url(self):
        """For `stator serve --store`: all nodes; libpq finds the primary."""
        hosts = ",".join(f"{node.address}:{node.port}" for node in self.nodes)
        return f"postgresql://{USER}@{hosts}/{DATABASE}?target_session_attrs=read-write"

    def environment(self):
        """What a program needs to log in, without a password on its command line."""
        return {**os.environ, "PGPASSWORD": self.passwords[USER]}

    def sql(self, statement, database=DATABASE):
        """Run by the superuser on the primary; its answer as text."""
        done = self.psql(wait_until("a primary", 60, self.primary), statement, database)
        done.check_returncode()
        return done.stdout.strip()

    def psql(self, node, statement, database):
        return subprocess.run(
            ["psql", "-XAtq", "-h", node.address, "-p", str(node.port), "-U", "postgres", "-d", database, "-v",
             "ON_ERROR_STOP=1", "-c", statement], env={**os.environ, "PGPASSWORD": self.passwords["superuser"]},
            capture_output=True, text=True)
