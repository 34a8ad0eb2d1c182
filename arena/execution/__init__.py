"""Where blocks are played: in this process, in a pool of local processes, or on a Dask cluster.

May import ``blocks`` and ``errors``. Start reading in ``executors``; ``worker`` is the process at the other end,
``dask`` the executor for many machines.
"""
