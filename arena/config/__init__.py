"""What people write in TOML files: engines, rules, time controls.

May import ``blocks`` and ``errors``. Start reading in ``engine_spec``; ``toml`` has tables that name the line of what
is wrong, ``engine_identity`` tells when an engine has changed.
"""
