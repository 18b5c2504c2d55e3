#include "text/utf8.h"

#include <algorithm>

#include <array>

namespace orfebre::text {
namespace {

unsigned char byte_at(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Every white-space character of str.isspace(), in UTF-8.
constexpr std::array<std::string_view, 29> kSpaces = {
    "\t",           "\n",           "\x0B",         "\x0C",         "\r",
    "\x1C",         "\x1D",         "\x1E",         "\x1F",         " ",
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
    "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
    "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
    "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};

}  // namespace

Utf8Unit next_utf8_unit(std::string_view text) {
  using Kind = Utf8Unit::Kind;
  const unsigned char lead = byte_at(text, 0);
  if (lead < 0x80) {
    return {Kind::kCharacter, 1};
  }
  size_t size = 0;
  // The second byte's range is narrower after some leads: no overlong forms, surrogates or codes over 10FFFF.
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    if (lead == 0xE0) {
      low = 0xA0;
    }
    if (lead == 0xED) {
      high = 0x9F;
    }
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    if (lead == 0xF0) {
      low = 0x90;
    }
    if (lead == 0xF4) {
      high = 0x8F;
    }
  } else {
    return {Kind::kIllFormed, 1};
  }
  for (size_t i = 1; i < size; ++i) {
    if (i == text.size()) {
      return {Kind::kIncomplete, i};
    }
    if (byte_at(text, i) < low || byte_at(text, i) > high) {
      return {Kind::kIllFormed, i};
    }
    low = 0x80;
    high = 0xBF;
  }
  return {Kind::kCharacter, size};
}

bool is_well_formed(std::string_view text) {
  size_t pos = 0;
  while (pos < text.size()) {
    if (byte_at(text, pos) < 0x80) {
      ++pos;
      continue;
    }
    const Utf8Unit unit = next_utf8_unit(text.substr(pos));
    if (unit.kind != Utf8Unit::Kind::kCharacter) {
      return false;
    }
    pos += unit.size_bytes;
  }
  return true;
}

int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

std::string replace_ill_formed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t pos = 0;
  while (pos < text.size()) {
    const Utf8Unit unit = next_utf8_unit(text.substr(pos));
    if (unit.kind == Utf8Unit::Kind::kCharacter) {
      out.append(text, pos, unit.size_bytes);
    } else {
      out += kReplacement;
    }
    pos += unit.size_bytes;
  }
  return out;
}

std::string_view python_strip(std::string_view text) {
  const auto strip_one = [&text](bool front) {
    for (const std::string_view space : kSpaces) {
      if (front ? text.starts_with(space) : text.ends_with(space)) {
        front ? text.remove_prefix(space.size()) : text.remove_suffix(space.size());
        return true;
      }
    }
    return false;
  };
  while (strip_one(true)) {
  }
  while (strip_one(false)) {
  }
  return text;
}

}  // namespace orfebre::text
