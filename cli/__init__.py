"""The `lictor` command.

Lives here: arguments, tables for people, `--json` for programs, exit codes.
Must not: rules, queries or SQL. A command calls `api` or `engine` and prints what it gets.
"""
