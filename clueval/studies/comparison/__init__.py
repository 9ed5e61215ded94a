"""`compare`: is a system better than another one, and by how much? And gates, which fail for a low score.

To read the package: `study` (what is compared), `paired_tests` (intervals, differences and p-values), `report` (tables
and sentences), `gates`.
"""
