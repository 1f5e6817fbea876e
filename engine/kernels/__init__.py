"""Functions on arrays and integers that validate nothing, most of them compiled; call them through `engine.equity` and
`engine.batch`, or compose them."""
