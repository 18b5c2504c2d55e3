"""Everything that makes the demo model's text. Standard library only."""
