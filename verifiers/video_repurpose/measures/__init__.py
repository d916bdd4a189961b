"""What can be found out about a film in the single pass of `film.watch`, one file per sense."""
