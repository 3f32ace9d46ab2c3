"""The evaluator port and its implementations.

Lives here: loading a bundle, evaluating a path of it, and saying value, undefined or coded error.
Must not: know what a decision means, touch the store, or let an evaluator's crash reach this process.
"""
