"""The views of staff pages, a module for each section. A view parses, authorises, calls, and renders."""
