"""The staff's pages, a module for each group. A view parses, authorises, calls an act or a query, and renders."""
