"""Runs on a GPU host: reads devices, streams evidence, carries out bounded host primitives.

Lives here: device readers (pynvml has one module), the evidence stream, host primitives.
Must not: decide, or import anything of this project but `engine.contracts`; a GPU host carries no control plane.
"""
