"""The repository's own checks find what they are there to find."""

import sys
from pathlib import Path, PurePosixPath

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

import check_layers  # noqa: E402
import check_sizes  # noqa: E402


@pytest.mark.parametrize("source, include", [
    ("engine/engine.cpp", "model/executor.h"),
    ("engine/engine.cpp", "backend/params.h"),
    ("backend/registry.cpp", "backend/cpu/cpu_backend.h"),
    ("backend/cpu/attention.cpp", "backend/cpu/simd.h"),
    ("cli/serve.cpp", "server/server.h"),
    ("text/bpe.cpp", "base/error.h"),
])
def test_allowed_include(source, include):
    assert check_layers.fault(PurePosixPath(source), include) is None


@pytest.mark.parametrize("source, include", [
    ("base/error.cpp", "spec/shape.h"),
    ("text/bpe.cpp", "sample/sampler.h"),
    ("engine/engine.cpp", "text/tokenizer.h"),
    ("engine/engine.cpp", "backend/backend.h"),
    ("model/forward.cpp", "backend/cpu/cpu_backend.h"),
    ("backend/cpu/attention.cpp", "backend/reference/attention.h"),
    ("backend/backend.cpp", "engine/request.h"),
    ("server/routes/chat/chat_route.cpp", "model/model.h"),
    ("cli/serve.cpp", "serve.h"),
])
def test_forbidden_include(source, include):
    assert check_layers.fault(PurePosixPath(source), include)


def test_function_lengths():
    body = "\n".join("  work();" for _ in range(120))
    text = f"""namespace a {{
constexpr int kTable[] = {{
{body}
}};
int declared(int x);
template <class T>
int long_one(int x,
             T y) {{
{body}
}}

int short_one() {{
  return 1;
}}
}}  // namespace a
"""
    lengths = {name: length for name, _, length in check_sizes.cpp_functions(text)}
    assert lengths == {"long_one": 124, "short_one": 3}
