"""The pages, one module per group of routes; `views` and `shown_runs` have what several of them share."""
