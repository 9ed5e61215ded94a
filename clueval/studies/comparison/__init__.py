"""`compare`: is a system better than another one, and by how much? And gates, which fail for a low score."""
