"""What every page is made of: one HTML file with everything in it, nothing fetched.

- `templates`: the frame of a page (style, light and dark, script), and a table in it
- `drawing`: pictures as SVG, in the page's own font and text colour
- `table`: a table as a value
"""
