"""Where matches are kept: adapters of the port `rollbook.storage.port`, and a server of our own to run them on.

`memory` is for tests and simulations. `redis_log` is for everything else, on any Redis from 6.2 on or Valkey: one
server, Sentinel or a cluster; `embedded` starts such a server beside the service when there is none. All adapters pass
one contract, `tests/storage/test_log_contract.py`.
"""
