"""The options that several commands share: time controls, rules, the sandbox, execution, files.

May import ``arena`` and below; no command. Start reading in ``time_control``.
"""
