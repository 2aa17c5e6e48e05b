"""A Valkey that pytest-celery takes for a container: a broker, a result backend."""

from examples.valkey import HOST, Server


class LocalValkey(Server):
    """``Server`` with the names that a node asks its container for."""

    def __init__(self, name: str, *options: str) -> None:
        super().__init__(*options)
        self.name = name

    @property
    def id(self) -> str:
        return f"{self.pid or 0:012d}"

    @property
    def status(self) -> str:
        return "running" if self.pid else "exited"

    @property
    def celeryconfig(self) -> dict[str, str | int]:
        return {"url": self.url, "host_url": self.url, "hostname": HOST, "port": self.port, "vhost": "0"}

    def ready(self) -> bool:
        self.start()
        return True

    def logs(self) -> str:
        return self.log.read_text()

    def reload(self) -> None:
        """Nothing is cached."""

    def restart(self, timeout: float = 0, *, keep_data: bool = True) -> None:
        """Stop it and start it; how long that may take is the server's own to say."""
        super().restart(keep_data=keep_data)

    def kill(self, signal: str | int = "SIGKILL") -> None:
        """End it: at once with SIGKILL, else as if it were told to."""
        if signal == "SIGKILL":
            super().kill()
        else:
            self.stop()

    def teardown(self) -> None:
        self.close()
