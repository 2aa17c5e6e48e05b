"""What is kept in Valkey: the lease, the roll of replicas, the ledger, the markers and the fan-out records."""

from celery_leased_beat.store.address import address
from celery_leased_beat.store.client import connect, dedicated, without_retries
from celery_leased_beat.store.clock import ServerClock, boottime
from celery_leased_beat.store.connection import Connection
from celery_leased_beat.store.eviction import eviction_policy
from celery_leased_beat.store.fanout import Fanout, Fanouts
from celery_leased_beat.store.history import Record
from celery_leased_beat.store.keys import Keys
from celery_leased_beat.store.lease import Lease, LeaseReader
from celery_leased_beat.store.ledger import Ledger
from celery_leased_beat.store.marker import Markers, MarkerVerdict, Start
from celery_leased_beat.store.observation import Held, Holder, Observation
from celery_leased_beat.store.roll import Member, Roll, RollReader
from celery_leased_beat.store.snapshot import LedgerReader, Snapshot

__all__ = [
    "Connection",
    "Fanout",
    "Fanouts",
    "Held",
    "Holder",
    "Keys",
    "Lease",
    "LeaseReader",
    "Ledger",
    "LedgerReader",
    "MarkerVerdict",
    "Markers",
    "Member",
    "Observation",
    "Record",
    "Roll",
    "RollReader",
    "ServerClock",
    "Snapshot",
    "Start",
    "address",
    "boottime",
    "connect",
    "dedicated",
    "eviction_policy",
    "without_retries",
]
