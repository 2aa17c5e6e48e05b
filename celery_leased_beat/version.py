"""The version of the package, which a replica writes into the lease that it holds."""

__version__ = "0.1.0"
