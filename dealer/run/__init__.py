"""From settings to matches played: plans, schedules, contests, tournaments, the files they leave, and resuming."""
