#!/usr/bin/env python3
"""Checks who includes whom under src/ against the layering of ARCHITECTURE.md."""

import re
import sys

from source_files import CPP_SUFFIXES, read, tracked_files

# A folder may include its own headers, base, and the folders named here.
ALLOWED = {
    "base": set(),
    "spec": set(),
    "text": set(),
    "sample": set(),
    "checkpoint": {"spec"},
    "backend": {"spec"},
    "model": {"spec", "backend"},
    "engine": {"model", "sample", "spec", "backend"},
    "server": {"engine", "text", "sample"},
    "verify": {"engine", "model", "backend", "checkpoint", "text", "sample", "spec"},
    "cli": {"verify", "server", "engine", "model", "backend", "checkpoint", "text", "sample", "spec"},
}
# Only these headers of backend/ are its interface; the folders below it are private to the registry.
BACKEND_INTERFACE = {"backend/backend.h", "backend/params.h", "backend/pick_params.h"}
# What engine may see of the folders that it reaches through model: plain structs, no backend calls.
ENGINE_MAY_INCLUDE = {"backend/params.h", "backend/pick_params.h", "spec/step.h", "spec/step_header.h", "spec/shape.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def backend_name(parts) -> str | None:
    """The backend that a path below src/ or an include belongs to: 'cpu' for backend/cpu/..."""
    return parts[1] if len(parts) > 2 and parts[0] == "backend" else None


def fault(source, include: str) -> str | None:
    """Why `source` (relative to src/) may not include `include`; None when it may."""
    source_parts, parts = source.parts, include.split("/")
    if len(parts) == 1 or parts[0] not in ALLOWED:
        return "quoted includes name a folder of src/"
    folder, target = source_parts[0], parts[0]
    if target not in ALLOWED[folder] | {folder, "base"}:
        return f"{folder} may not include {target}"
    if folder == "engine" and target in {"backend", "spec"} and include not in ENGINE_MAY_INCLUDE:
        return "engine may include of backend and spec only " + ", ".join(sorted(ENGINE_MAY_INCLUDE))
    if target != "backend":
        return None
    if folder != "backend":
        return None if include in BACKEND_INTERFACE else "only backend.h, params.h and pick_params.h are the interface"
    owner, wanted = backend_name(source_parts), backend_name(parts)
    is_registry = str(source) == "backend/registry.cpp"
    if wanted is not None and wanted != owner and not is_registry:
        return "a backend may not include another backend; only registry.cpp knows them"
    return None


def main() -> int:
    faults = []
    for path in tracked_files():
        if path.parts[0] != "src" or path.suffix not in CPP_SUFFIXES or len(path.parts) < 3:
            continue
        source = path.relative_to("src")
        if source.parts[0] not in ALLOWED:
            faults.append(f"{path}: folder {source.parts[0]} has no place in the layering")
            continue
        for include in INCLUDE.findall(read(path)):
            reason = fault(source, include)
            if reason:
                faults.append(f'{path}: #include "{include}": {reason}')
    print("\n".join(faults) or "layers: every include points down")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
