"""Compiled kernels: functions on arrays and integers that validate nothing; import them through the modules above."""
