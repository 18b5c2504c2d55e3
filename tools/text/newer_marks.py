#!/usr/bin/env python3
"""Prints the table of src/text/encoding/newer_marks.h: characters that Hugging Face `tokenizers` does not know.

Its NFC has the tables of Unicode 9. Newer combining marks and newer composed characters pass through it as if they
were unassigned; to get the same ids, so must ours, whatever the system's utf8proc knows.
Needs unicodedata2 (newest Unicode) and tokenizers: tools/text/requirements.txt.
"""
import tokenizers
import unicodedata2


def unknown_to_tokenizers():
    theirs = tokenizers.normalizers.NFC().normalize_str
    ours = lambda text: unicodedata2.normalize("NFC", text)
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        char = chr(code)
        parts = unicodedata2.normalize("NFD", char)
        klass = unicodedata2.combining(char)
        if parts != char:
            if theirs(parts) != ours(parts) or theirs(char) != ours(char):
                yield code
                # The first part starts the composition; it is as new as the whole.
                yield ord(parts[0])
        elif klass:
            # A known mark of another class that must change places with it.
            text = "a\u0345" + char if klass < 240 else "a" + char + "\u0334"
            if theirs(text) != ours(text):
                yield code


def main():
    ranges = []
    for code in sorted(set(unknown_to_tokenizers())):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    print(f"// Unicode {unicodedata2.unidata_version} against tokenizers {tokenizers.__version__}")
    print(", ".join(f"{{0x{low:X}, 0x{high:X}}}" for low, high in ranges))


if __name__ == "__main__":
    main()
