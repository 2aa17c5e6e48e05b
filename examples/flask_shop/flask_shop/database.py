"""The database: a connection per app context, so that no process gets one from its parent."""

import sqlite3

from flask import Flask, current_app, g

#: The envelope's id as the key makes a second run change nothing.
SCHEMA = """
CREATE TABLE IF NOT EXISTS sync (envelope TEXT PRIMARY KEY, warehouse TEXT NOT NULL, instant TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS digest (envelope TEXT PRIMARY KEY, audience TEXT NOT NULL, instant TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS daily_count (day TEXT PRIMARY KEY, syncs INTEGER NOT NULL);
"""


def connection() -> sqlite3.Connection:
    """Return the connection of the current app context."""
    if "connection" not in g:
        g.connection = sqlite3.connect(current_app.config["DATABASE"], timeout=20, isolation_level=None)
    opened: sqlite3.Connection = g.connection
    return opened


def init_app(app: Flask) -> None:
    app.teardown_appcontext(_close)
    with app.app_context():
        connection().executescript(SCHEMA)


def _close(_: BaseException | None) -> None:
    if "connection" in g:
        g.pop("connection").close()
