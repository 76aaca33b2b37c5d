"""What happens over time: requests that arrive, wait, share passes and leave; and what it takes to serve them.

`requests` says who comes, `pass_times` how long a pass takes, `replica` runs one copy of the model from event to
event, `simulator` several of them, and `summary` says what came of it.

`offers` says what is asked for and what may serve it, `curves` scores every set-up by closed forms, `candidates` names
those that hold and why others do not, `planner` has the cheapest confirmed by the simulator, and `commands` says how it
is started.
"""
