// first_overlap of assertions.h.
#include "sample/schema/assertions.h"

#include <algorithm>
#include <set>

namespace orfebre::schema {
namespace {

constexpr int kMaxDepth = 3;
constexpr size_t kMaxPairs = 400;
constexpr size_t kMaxComparisons = 50'000;  // in one compilation

class Comparison {
 public:
  Comparison(const Document& document, ReadContext& context) : document_(document), context_(context) {}

  bool exclude(const Conjunction& a, const Conjunction& b, int depth) {
    if (++context_.n_comparisons > kMaxComparisons) {
      return false;
    }
    const std::vector<Assertions> of_a = alternatives(document_, a, context_);
    const std::vector<Assertions> of_b = alternatives(document_, b, context_);
    if (of_a.size() * of_b.size() > kMaxPairs) {
      return false;
    }
    for (const Assertions& x : of_a) {
      for (const Assertions& y : of_b) {
        if (!exclude(x, y, depth)) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  bool exclude(const Assertions& x, const Assertions& y, int depth) {
    if (x.has_values || y.has_values) {
      return values_differ(x, y);
    }
    const Types common = x.types & y.types;
    if ((common & (kNull | kBoolean)) != 0) {
      return false;
    }
    return ((common & (kInteger | kNumber)) == 0 || numbers_differ(x, y)) &&
           ((common & kString) == 0 ||
            counts_differ(x.min_length, x.max_length, y.min_length, y.max_length)) &&
           ((common & kArray) == 0 || counts_differ(x.min_items, x.max_items, y.min_items, y.max_items)) &&
           ((common & kObject) == 0 || objects_differ(x, y, depth));
  }

  static bool values_differ(const Assertions& x, const Assertions& y) {
    if (!x.has_values) {
      return values_differ(y, x);
    }
    if (!y.has_values) {
      return std::none_of(x.values.begin(), x.values.end(),
                          [&](const PyJson* value) { return (type_of(*value) & y.types) != 0; });
    }
    std::set<std::string> texts;
    for (const PyJson* value : x.values) {
      texts.insert(canonical_text(*value));
    }
    return std::none_of(y.values.begin(), y.values.end(),
                        [&](const PyJson* value) { return texts.contains(canonical_text(*value)); });
  }

  static bool numbers_differ(const Assertions& x, const Assertions& y) {
    const auto above = [](const Assertions& upper, const Assertions& lower) {
      if (!upper.low || !lower.high) {
        return false;
      }
      const int order = compare(lower.high->value, upper.low->value);
      return order < 0 || (order == 0 && (lower.high->exclusive || upper.low->exclusive));
    };
    return above(x, y) || above(y, x);
  }

  static bool counts_differ(int64_t x_low, int64_t x_high, int64_t y_low, int64_t y_high) {
    return (x_high >= 0 && x_high < y_low) || (y_high >= 0 && y_high < x_low);
  }

  // A property that one of them requires and whose values differ, or that the other forbids.
  bool objects_differ(const Assertions& x, const Assertions& y, int depth) {
    if (depth >= kMaxDepth) {
      return false;
    }
    for (const Assertions* requiring : {&x, &y}) {
      for (const std::string& name : requiring->required) {
        const auto of_x = property(x, name), of_y = property(y, name);
        if (!of_x.known || !of_y.known) {
          continue;
        }
        if (exclude(of_x.schemas, of_y.schemas, depth + 1)) {
          return true;
        }
      }
    }
    return false;
  }

  struct Property {
    bool known = true;  // false: patternProperties may say more; nothing is concluded
    Conjunction schemas;
  };
  static Property property(const Assertions& of, std::string_view name) {
    Property property;
    for (const PyJson* schema : of.objects) {
      const PyJson* properties = schema->find("properties");
      const PyJson* declared = properties == nullptr ? nullptr : properties->find(name);
      const PyJson* others = schema->find("additionalProperties");
      property.known = property.known && schema->find("patternProperties") == nullptr;
      if (declared != nullptr) {
        add_to(property.schemas, *declared);
      } else if (others != nullptr) {
        add_to(property.schemas, *others);
      }
    }
    return property;
  }

  const Document& document_;
  ReadContext& context_;
};

}  // namespace

std::optional<std::pair<size_t, size_t>> first_overlap(const Document& document, const PyJson& branches,
                                                       ReadContext& context) {
  Comparison comparison(document, context);
  for (size_t i = 0; i < branches.items.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!comparison.exclude({&branches.items[j]}, {&branches.items[i]}, 0)) {
        return std::pair(j, i);
      }
    }
  }
  return std::nullopt;
}

}  // namespace orfebre::schema
