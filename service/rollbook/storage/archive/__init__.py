"""Where finished matches go: one replay file each, in a folder or in an S3-compatible store.

`port` says what an archive has to promise, `folder` and `s3` keep it, and both pass one contract,
`tests/storage/archive/test_archive_contract.py`. `log` is for everybody who wants to know nothing of all this.
"""
