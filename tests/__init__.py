"""Tests, in the layout of the source. Builders are in `builders.py`, real servers in `testbeds/`."""
