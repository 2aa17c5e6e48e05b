"""What the shop tells its customers."""
