"""Where matches are kept: adapters of the port `rollbook.storage.port`, and a server of our own to run them on.

`redis` runs on any Redis from 6.2 on or Valkey: one server, Sentinel or a cluster; `embedded` starts such a server
beside the service when there is none. All adapters, and the one in memory that tests use, pass one contract,
`tests/storage/test_log_contract.py`.
"""
