"""Agents without a model, run through the same path as any other: scripted policies and the loopback model.

They make the whole loop testable offline: nothing here may read an answers folder except the oracle and the
vandal.
"""
