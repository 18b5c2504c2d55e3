"""Official clients against the running demo. None of them may reach the network."""

import os

import pytest

# Before the libraries are imported: no lists of prices, no traces.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"

QUESTION = "What is the weather in Oslo?"
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@pytest.fixture
def weather():
    """(a question, a tool that answers it: name, description, schema)"""
    return QUESTION, "get_weather", "Tells the weather of a city.", WEATHER
