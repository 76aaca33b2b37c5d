"""The dashboard's frame: the only part, with pages/, that imports Streamlit."""
