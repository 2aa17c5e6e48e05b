"""When the shop does what: each module adds its part of the schedule."""
