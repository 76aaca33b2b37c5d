"""What happens over time: requests that arrive, wait, share passes and leave.

`requests` says who comes, `pass_times` how long a pass takes, `replica` runs one copy of the model from event to
event, `simulator` several of them, and `summary` says what came of it.
"""
