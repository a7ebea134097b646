"""What people embed: Hypothesis strategies of streams (and, in time, `enforce`)."""
