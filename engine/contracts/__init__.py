"""The typed answers of the five entrypoints, and the words that they share.

Lives here: frozen models that travel between the parts, the node agent included.
Must not: import anything else of this project, or do anything but describe and validate.
"""
