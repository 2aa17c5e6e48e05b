"""What the app and its tests agree on."""

#: The settings of all its processes.
SETTINGS = {"leased_beat_lease_ttl": 3.0, "task_ignore_result": True}

#: The app's name, and with it the namespace.
NAME = "brokers"
#: Seconds between two instants of each entry.
INTERVAL = 1.0
#: The entries of the event with three listeners, by name, and how each catches up.
ENTRIES = {"all": "all", "latest": "latest", "skip": "skip"}
#: Seconds by which the messages of the entry "delayed" are delayed.
DELAY = 2

LISTENERS = ("first", "second", "third")
#: By entry, the handlers that each instant has to reach.
HANDLERS = {**dict.fromkeys(ENTRIES, LISTENERS), "flaky": ("flaky",), "report": ("report",), "delayed": ("delayed",)}
#: The entries of which an outage may leave out instants.
LOSSY = {"latest", "skip"}
