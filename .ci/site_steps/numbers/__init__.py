"""Numbers and tables of the chapters, computed when the site is built: a module per page, `{{= loss: table() }}`."""
