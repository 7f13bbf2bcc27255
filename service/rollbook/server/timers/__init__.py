"""Timers: ends turns that ran out, aborts unready matches, expires abandoned ones, credits downtime."""
