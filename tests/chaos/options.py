"""The options of the chaos tests; ``tests/conftest.py`` hands them to pytest."""

import pytest

BROKERS = ("valkey", "rabbitmq")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("chaos", "chaos: faults against real replicas, workers and servers")
    group.addoption("--chaos-minutes", type=float, default=0.0, help="let faults happen for so long (default: 30 s)")
    group.addoption("--chaos-seed", type=int, default=1, help="the seed of their sequence")
    group.addoption("--chaos-broker", choices=BROKERS, help="the broker (default: test_chaos.py on each, else valkey)")
    group.addoption("--chaos-strict", action="store_true", help="leave out what no promise stands against: lost data")
    group.addoption("--scale-minutes", type=float, default=0.0, help="scale workers for so long (default: 30 s)")
    group.addoption("--kills", type=int, default=10, help="how many holders test_kills.py kills (default: 10)")
