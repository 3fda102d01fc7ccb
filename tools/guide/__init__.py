"""What docs/guide.md is made of: its text, its numbers and its figures. The command is tools/make_guide.py."""
