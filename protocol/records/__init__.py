"""Games as text files: written, read, and checked against the rules.

May import ``referee`` and below. Start reading in ``records``, then ``reader`` and ``verify``.
``docs/reference/records.md`` is the contract.
"""
