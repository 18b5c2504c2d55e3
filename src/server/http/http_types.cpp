#include "server/http/http_types.h"

#include <algorithm>

namespace orfebre::http {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view HttpRequest::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (equal_ignoring_case(header.name, name)) {
      return header.value;
    }
  }
  return {};
}

bool HttpRequest::has_header(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const Header& header) { return equal_ignoring_case(header.name, name); });
}

std::string HttpRequest::path() const {
  const std::string_view raw = std::string_view(target).substr(0, target.find_first_of("?#"));
  std::string path;
  for (size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '%') {
      path += raw[at];
      continue;
    }
    const int high = at + 2 < raw.size() ? hex_digit(raw[at + 1]) : -1;
    const int low = at + 2 < raw.size() ? hex_digit(raw[at + 2]) : -1;
    if (high < 0 || low < 0) {
      return {};
    }
    path += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return path;
}

}  // namespace orfebre::http
