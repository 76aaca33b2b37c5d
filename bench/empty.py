"""The least page that answers a key press: what the dashboard's pages are measured against."""

import streamlit as st

st.title(f"With {st.number_input('Batch', 1, 1_000_000, step=1, key='batch')} requests")
