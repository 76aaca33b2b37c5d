"""The scenario at a glance, and scenarios worth a look."""

import streamlit as st

from inferdash import links
from inferdash.charts import batching as batching_chart
from inferdash.charts import experts as experts_chart
from inferdash.charts import loading as loading_chart
from inferdash.charts import prompt_cache as prompt_cache_chart
from inferdash.charts import quantization as quantization_chart
from inferdash.charts import roofline as roofline_chart
from inferdash.charts.theme import small
from inferdash.facts import library
from inferdash.studies import batching, compute_vs_memory, experts, kv_cache, prompt_cache, quantization, roofline
from inferdash.studies import overview as page
from inferdash.ui import parts, state
from inferdash.ui.parts import Card

scenario = state.scenario()
result = page.study(scenario)

parts.headline(page.TITLE, page.sentence(scenario, result))
parts.numbers(page.headline_numbers(scenario, result))

st.header("Why, page by page", anchor=False)
pictures = (
    (compute_vs_memory, roofline_chart.roofline, lambda found: roofline.rows(scenario, found)),
    (kv_cache, loading_chart.along_text, lambda _: kv_cache.load_rows(scenario)),
    (prompt_cache, prompt_cache_chart.lifetime, lambda found: prompt_cache.lifetime_rows(scenario, found)),
    (batching, batching_chart.curve, lambda found: batching.curve_rows(scenario, found)),
    (quantization, quantization_chart.sizes, quantization.size_rows),
    (experts, experts_chart.distinct, lambda _: experts.distinct_rows(experts.pictured(scenario))),
)
cards = []
for study, chart, rows in pictures:
    found = study.study(scenario)
    said = study.sentence(scenario, found)
    if study is experts and experts.pictured(scenario) != scenario:
        said += f" The picture shows {experts.pictured(scenario).architecture.name}."
    cards.append(Card(study.NAME, study.TITLE, scenario, said, small(chart()), rows(found)))
parts.cards(cards)

st.header("Scenarios worth a look", anchor=False)
parts.cards(
    [Card(one.page, one.name, links.decode(one.link).scenario, one.why) for one in library.scenarios().values()]
)
