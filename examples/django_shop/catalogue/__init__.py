"""What the shop has in stock."""
