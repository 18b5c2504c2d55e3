#!/usr/bin/env python3
"""Checks the size limits of CONTRIBUTING.md: files, headers, functions and folders that a person can read."""

import ast
import re
import sys
from collections import Counter

from source_files import CPP_SUFFIXES, HEADER_SUFFIXES, is_hand_written, read, tracked_files

MAX_FILE_LINES = 700
MAX_HEADER_LINES = 200
MAX_FUNCTION_LINES = 100
MAX_KERNEL_LINES = 150  # functions under src/backend/
MAX_FOLDER_FILES = 20

NOT_A_FUNCTION = re.compile(
    r"^(namespace|struct|class|enum|union|extern|using|typedef|#|//|/\*|\}|template\s*<.*>\s*(struct|class))")


def cpp_functions(text: str):
    """(name, first line, lines) of functions at namespace level; relies on the project's formatting:
    they start in column 0 and end with a brace in column 0."""
    lines = text.split("\n")
    start = None
    for number, line in enumerate(lines):
        if start is None:
            if line[:1].isalpha() and not NOT_A_FUNCTION.match(line):
                start = number
        if start is None:
            continue
        if line.startswith("}"):
            head = " ".join(lines[start:number]).split("{")[0]
            if "(" in head and "=" not in head.split("(")[0]:
                yield head.split("(")[0].split()[-1], start + 1, number - start + 1
            start = None
        elif line.rstrip().endswith(";") and "{" not in " ".join(lines[start:number + 1]):
            start = None
        elif number > start and not line.strip() and "{" not in " ".join(lines[start:number]):
            start = None


def python_functions(text: str):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def file_faults(path) -> list[str]:
    text = read(path)
    faults = []
    n_lines = text.count("\n")
    limit = MAX_HEADER_LINES if path.suffix in HEADER_SUFFIXES else MAX_FILE_LINES
    if n_lines > limit:
        faults.append(f"{path}: {n_lines} lines, at most {limit}: split it along its parts")
    functions = []
    if path.suffix in CPP_SUFFIXES:
        functions = cpp_functions(text)
    elif path.suffix == ".py":
        functions = python_functions(text)
    limit = MAX_KERNEL_LINES if path.parts[:2] == ("src", "backend") else MAX_FUNCTION_LINES
    for name, line, length in functions:
        if length > limit:
            faults.append(f"{path}:{line}: function {name} has {length} lines, at most {limit}")
    return faults


def main() -> int:
    faults = []
    folders = Counter()
    for path in tracked_files():
        if is_hand_written(path):
            faults += file_faults(path)
            folders[path.parent] += 1
    faults += [f"{folder}/: {n} source files, at most {MAX_FOLDER_FILES}"
               for folder, n in sorted(folders.items()) if n > MAX_FOLDER_FILES]
    print("\n".join(faults) or f"sizes: {sum(folders.values())} source files within limits")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
