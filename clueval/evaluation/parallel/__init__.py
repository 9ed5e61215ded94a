"""Counting in several processes, on one machine or many.

Read `work`, `cuts`, `tasks`, `gather`, `schedule`, `executors`, in this order; `dask` is for clusters. Nothing here
knows a metric or what is counted.
"""
