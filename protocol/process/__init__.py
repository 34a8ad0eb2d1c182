"""An engine process seen from outside: started, asked, timed, ended. Nothing that it does hangs the caller.

May import ``protocol.messages``, ``notation`` and ``engine``. Start reading in ``process``, then ``conversation``,
``channel`` and ``child``.
"""
