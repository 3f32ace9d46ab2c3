"""Alembic's entry: it runs on the connection that `engine.store.schema` hands it."""

from alembic import context

from engine.store.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
