"""What the handlers work with. A real shop has a database, a mail server and a chat here; this one has a Valkey."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from redis import Redis

from examples.shop.journal import Journal

#: What the shop leaves in the Valkey ends by itself.
KEEP = timedelta(hours=1)


class ChatDown(Exception):
    """The chat did not take a post."""


@dataclass(frozen=True)
class Stock:
    """The stock on the site."""

    client: Redis

    def sync(self, warehouse: str) -> None:
        self.client.set(f"shop:stock:{warehouse}", "in line", ex=KEEP)


@dataclass(frozen=True)
class Sales:
    """The turnover of the tills."""

    client: Redis

    def book(self, till: str, instant: datetime) -> None:
        """Book the turnover of one second; booked twice it still counts once."""
        self.client.hset("shop:sales", f"{till} {instant.isoformat()}", "9.99")
        self.client.expire("shop:sales", KEEP)

    def total(self) -> float:
        return sum(map(float, self.client.hvals("shop:sales")))


@dataclass(frozen=True)
class Mail:
    """The mail server."""

    client: Redis

    def send(self, to: str, subject: str) -> None:
        self.client.set(f"shop:mail:{to}", subject, ex=KEEP)


@dataclass(frozen=True)
class Chat:
    """A chat with bad days: it takes no post before the third try."""

    client: Redis

    def post(self, text: str, reference: str) -> None:
        """Post ``text``. Raises ``ChatDown``."""
        key = f"shop:chat:{reference}"
        tries = self.client.incr(key)
        self.client.expire(key, KEEP)
        if tries <= 2:
            raise ChatDown(f"try {tries} of posting {text!r}")


@dataclass(frozen=True)
class Deps:
    """All of them; handed to each module's ``register``."""

    stock: Stock
    sales: Sales
    mail: Mail
    chat: Chat
    journal: Journal

    @classmethod
    def connect(cls, url: str) -> "Deps":
        """Use the Valkey at ``url``; a connection is made when the first handler needs one."""
        client = Redis.from_url(url, decode_responses=True)
        return cls(Stock(client), Sales(client), Mail(client), Chat(client), Journal(client))
