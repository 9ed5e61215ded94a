"""Results: what is made of a bag, saved bags, and counting in several processes."""
