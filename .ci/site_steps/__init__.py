"""What happens to built pages: links between them, formulas, tables, the search. Only the build of the site uses it."""
