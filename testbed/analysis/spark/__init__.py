"""The Spark session: how it starts, where it runs, and how Ctrl-C ends it."""
