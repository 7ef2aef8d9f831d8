"""What a version holds: its pairs, reviews and rejections, and the files that keep them."""
