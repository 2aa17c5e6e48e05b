"""The demo: the shop on three beats and two workers, the holder killed, the next one let go, and an audit.

================  =====================================================================================
``play``          the story, from the first start to the closing line
``crew``          the processes, started and ended by their ids
``cast``          the replicas and the workers, and what is done to the holder
``watch``         what the lease and the ledger show from outside
``audit``         what was done, held against the schedule's own instants
``books``         the schedule, the ledger and the journal of one run, from which the audit counts
``stage``         the live table; plain lines where there is no terminal
================  =====================================================================================
"""
