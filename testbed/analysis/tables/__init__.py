"""One table per file: functions from DataFrame to DataFrame, each with its columns and units in COLUMNS.

Spark reduces what can be large (events, deliveries, captures); what is left fits on the driver and is
arranged with pandas.
"""
