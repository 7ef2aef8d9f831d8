"""What a person decides: votes and pay, rejections, appeals, lost work."""
