"""Counting in several processes, on one machine or many.

Read `work`, `cuts`, `tasks`, `schedule`, `workers`, in this order. These modules do not depend on
single metrics.
"""
