"""The real systems that tests use: how to find one, how to start one, and what to say when it is not there.

Lives here: processes started on free ports in temporary folders, bounded waits, ended by their id.
Must not: pretend. A missing system is reported at the end of the run with the command that brings it.
"""
