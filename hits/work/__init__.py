"""One answer set from seat to decision, and what may follow: rejections, reversals, appeals."""
