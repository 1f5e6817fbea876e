"""The pages: each module has the routes of some, `views` and `shown_runs` have what several of them show."""
