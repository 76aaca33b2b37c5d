"""Starts the dashboard: `streamlit run app.py`, or `uvicorn app:app`."""

import streamlit as st

from inferdash.ui.hosting.server import ERRORS, FRAME, MIDDLEWARE, ROUTES, warm_up

app = st.App(FRAME, lifespan=warm_up, routes=ROUTES, middleware=MIDDLEWARE, exception_handlers=ERRORS)
