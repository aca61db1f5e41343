"""One adapter per library: its own functions on the batch of the page. None of its code is here."""
