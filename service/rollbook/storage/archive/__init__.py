"""Archives for finished matches: one replay file each, in a folder or in an S3-compatible store.

`port` lists what an archive has to promise; `folder` and `s3` implement it and pass one contract,
`tests/storage/archive/test_archive_contract.py`. `log` joins store and archive, so that callers need not know which of
the two has a match.
"""
