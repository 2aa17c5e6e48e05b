"""The demo: the shop on three beats and two workers, the holder killed, the next one let go, and a tally.

================  =====================================================================================
``play``          the story, from the first start to the closing line
``house``         a Valkey, the processes and the books of one run, put together
``crew``          the processes, started and ended by their ids
``cast``          the replicas and the workers, and what is done to the holder
``watch``         what the lease shows from outside
``tally``         what was done, held against the schedule's own instants
``books``         the schedule, the ledger and the journal of one run, from which the tally counts
``stage``         the live table; plain lines where there is no terminal
================  =====================================================================================
"""
