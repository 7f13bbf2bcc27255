"""Stores for matches: adapters of the port `rollbook.storage.port`, and an embedded server to run them on.

`redis` runs on Redis (6.2 or later) or Valkey: one server, Sentinel or a cluster. `embedded` starts such a server
beside the service when there is none. All adapters, and the in-memory one that tests use, pass one contract,
`tests/storage/test_log_contract.py`.
"""
