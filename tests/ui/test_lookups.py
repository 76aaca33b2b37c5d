"""A look at one key of a session finds what the dictionary of all keys holds."""

from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from inferdash.ui import lookups


def test_one_key_is_what_it_is_among_all() -> None:
    state = SessionState()
    session = SafeSessionState(state, lambda: None)
    session["one"], session["none"] = 1, None
    whole = state.filtered_state
    lookups.quicken()
    assert dict(session.filtered_state) == whole == {"one": 1, "none": None}
    assert session.filtered_state["none"] is None
    assert "other" not in session.filtered_state
    assert repr(session.filtered_state) == repr(whole)


def test_fields_of_text_and_lists_keep_their_values() -> None:
    def page() -> None:
        import streamlit as st  # noqa: PLC0415 - the function is run as a script of its own

        for key in ("one", "two"):
            st.text_input(key, key, key=key)
            st.selectbox(f"{key} of", ["a", "b"], key=f"{key} of")
        st.text(str(sorted(st.session_state.items())))

    lookups.quicken()
    app = AppTest.from_function(page).run()
    app.text_input(key="one").set_value("1").run()
    app.selectbox(key="two of").set_value("b").run()
    assert app.text[0].value == "[('one', '1'), ('one of', 'a'), ('two', 'two'), ('two of', 'b')]"
    assert app.text_input(key="one").value == "1"
