"""Durable state: SQLAlchemy models, one repository per thing that is kept, Alembic migrations.

Lives here: everything that knows SQL. SQLite and PostgreSQL pass the same tests.
Must not: decide. No network and no evaluation while a transaction is open; commit once, at the edge.
"""
