"""Captures to columns and messages, with NumPy and Arrow only: no Spark is imported here.

`container` reads the two file formats' headers, `walk` and `pcapng` find the records, `columns` decodes them,
`split` cuts large files, `reader` streams a file or a part of one; `tcp`, `http2` and `witness` turn packets
into gRPC messages and count them.
"""
