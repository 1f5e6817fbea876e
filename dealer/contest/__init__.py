"""From settings to matches played: configuration, plans, schedules, contests and tournaments."""
