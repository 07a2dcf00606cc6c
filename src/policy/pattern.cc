// SPDX-License-Identifier: Apache-2.0
#include "policy/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace stator::policy {
namespace {

bool starts_with(std::string_view text, std::string_view start, LetterCase letters) {
  if (letters == LetterCase::kExact) return text.starts_with(start);
  return text.size() >= start.size() &&
         std::ranges::equal(text.substr(0, start.size()), start, {}, ascii_lower, ascii_lower);
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

constexpr std::string_view kVariableStart = "${";
constexpr std::size_t kPartsMax = 128;  // matching takes up to this many steps per character

// The end of the variable at the start of `text`; npos if it is not closed.
std::size_t variable_end(std::string_view text) {
  const std::size_t end = text.find('}');
  return end == text.npos ? text.npos : end + 1;
}

}  // namespace

void Pattern::add_literal(std::string_view text) {
  if (text.empty()) return;
  if (parts_.empty() || parts_.back().kind != Part::Kind::kLiteral) parts_.emplace_back();
  parts_.back().text += text;
}

// `text`: the content of the braces.
Result<Pattern::Part> Pattern::parse_variable(std::string_view text) {
  const std::size_t comma = text.find(',');
  const std::string_view name = without_blanks(text.substr(0, comma));
  std::optional<KeyName> key = find_key(name);
  if (!key || is_multivalued(key->key)) {
    return fail(Code::kInvalidArgument,
                fmt::format("policy variable '${{{}}}' is not supported", text));
  }
  Part part{.kind = Part::Kind::kVariable, .text = {}, .key = std::move(*key)};
  if (comma == text.npos) return part;
  const std::string_view value = without_blanks(text.substr(comma + 1));
  if (value.size() < 2 || !value.starts_with('\'') || !value.ends_with('\'')) {
    return fail(Code::kInvalidArgument,
                fmt::format("the default in '${{{}}}' must be in single quotes", text));
  }
  part.text = value.substr(1, value.size() - 2);
  part.has_default = true;
  return part;
}

Result<Pattern> Pattern::parse(std::string_view text, Wildcards wildcards, Variables variables,
                               LetterCase letters) {
  Pattern pattern;
  pattern.letters_ = letters;
  while (!text.empty()) {
    std::size_t length = 1;
    if (text.starts_with(kVariableStart)) {
      length = variable_end(text);
      if (variables == Variables::kRefused || length == text.npos) {
        return fail(
            Code::kInvalidArgument,
            fmt::format("'{}' has a policy variable {}", text,
                        length == text.npos ? "that is not closed" : "that cannot be here"));
      }
      const std::string_view inside =
          text.substr(kVariableStart.size(), length - kVariableStart.size() - 1);
      if (inside == "*" || inside == "?" || inside == "$") {
        pattern.add_literal(inside);
      } else {
        STATOR_ASSIGN_OR_RETURN(Part part, parse_variable(inside));
        pattern.parts_.push_back(std::move(part));
      }
    } else if (wildcards == Wildcards::kMatch && text[0] == '*') {
      const bool again =
          !pattern.parts_.empty() && pattern.parts_.back().kind == Part::Kind::kAnyRun;
      if (!again) pattern.parts_.push_back({.kind = Part::Kind::kAnyRun});
    } else if (wildcards == Wildcards::kMatch && text[0] == '?') {
      pattern.parts_.push_back({.kind = Part::Kind::kAnyOne});
    } else {
      pattern.add_literal(text.substr(0, 1));
    }
    text.remove_prefix(length);
    if (pattern.parts_.size() > kPartsMax) {
      return fail(Code::kInvalidArgument,
                  fmt::format("a text has more than {} wildcards, variables and parts between them",
                              kPartsMax));
    }
  }
  return pattern;
}

std::optional<std::size_t> Pattern::taken(const Part& part, std::string_view text,
                                          const Context& context) const {
  std::string scratch;
  std::string_view wanted = part.text;
  switch (part.kind) {
    case Part::Kind::kAnyOne:
      return text.empty() ? std::nullopt : std::optional<std::size_t>(1);
    case Part::Kind::kAnyRun:
      return 0;
    case Part::Kind::kLiteral:
      break;
    case Part::Kind::kVariable: {
      const KeyValues values = context.values(part.key, scratch);
      if (values.size() == 1) {
        wanted = values[0];
      } else if (!part.has_default) {
        return std::nullopt;
      }
      break;
    }
  }
  if (!starts_with(text, wanted, letters_)) return std::nullopt;
  return wanted.size();
}

// Each * matches as little as possible. If the rest does not match, the last * matches one more
// character; the ones before it need not change.
bool Pattern::matches(std::string_view text, const Context& context) const {
  std::size_t part = 0;
  std::optional<std::size_t> run;  // the last * so far
  std::string_view run_text;       // the text after its match
  for (;;) {
    if (part < parts_.size() && parts_[part].kind == Part::Kind::kAnyRun) {
      run = part++;
      run_text = text;
      continue;
    }
    if (part == parts_.size() && text.empty()) return true;
    if (part == parts_.size() && run == part - 1) return true;  // it ends with *
    if (part < parts_.size()) {
      if (const auto length = taken(parts_[part], text, context)) {
        text.remove_prefix(*length);
        ++part;
        continue;
      }
    }
    if (!run || run_text.empty()) return false;
    run_text.remove_prefix(1);
    text = run_text;
    part = *run + 1;
  }
}

std::string Pattern::text() const {
  std::string text;
  for (const Part& part : parts_) {
    switch (part.kind) {
      case Part::Kind::kAnyOne:
        text += '?';
        break;
      case Part::Kind::kAnyRun:
        text += '*';
        break;
      case Part::Kind::kLiteral:
        for (const char c : part.text) {
          const bool is_special = c == '*' || c == '?' || c == '$';
          text += is_special ? fmt::format("${{{}}}", c) : std::string(1, c);
        }
        break;
      case Part::Kind::kVariable: {
        const std::string tag = part.key.tag.empty() ? "" : "/" + part.key.tag;
        const std::string other = part.has_default ? ", '" + part.text + "'" : "";
        text += fmt::format("${{{}{}{}}}", name_of(part.key.key), tag, other);
        break;
      }
    }
  }
  return text;
}

Result<ArnPattern> ArnPattern::parse(std::string_view text, Variables variables) {
  constexpr std::size_t kParts = 6;
  ArnPattern pattern;
  if (text == "*") return pattern;
  const std::string_view whole = text;
  std::size_t at = 0;
  while (at < text.size() && pattern.parts_.size() + 1 < kParts) {
    if (text.substr(at).starts_with(kVariableStart)) {
      at += std::min(variable_end(text.substr(at)), text.size() - at);
    } else if (text[at] != ':') {
      ++at;
    } else {
      STATOR_ASSIGN_OR_RETURN(Pattern part,
                              Pattern::parse(text.substr(0, at), Wildcards::kMatch, variables));
      pattern.parts_.push_back(std::move(part));
      text.remove_prefix(at + 1);
      at = 0;
    }
  }
  if (pattern.parts_.size() + 1 < kParts || !whole.starts_with("arn:") || text.empty()) {
    return fail(Code::kInvalidArgument, fmt::format("'{}' is not an ARN; expected '*' or "
                                                    "arn:aws:SERVICE:REGION:ACCOUNT:RESOURCE",
                                                    whole));
  }
  STATOR_ASSIGN_OR_RETURN(Pattern part, Pattern::parse(text, Wildcards::kMatch, variables));
  pattern.parts_.push_back(std::move(part));
  return pattern;
}

bool ArnPattern::matches(std::string_view arn, const Context& context) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool last = i + 1 == parts_.size();
    const std::size_t end = last ? arn.size() : arn.find(':');
    if (end == arn.npos || !parts_[i].matches(arn.substr(0, end), context)) return false;
    arn.remove_prefix(last ? end : end + 1);
  }
  return true;
}

std::string ArnPattern::text() const {
  if (parts_.empty()) return "*";
  std::string text;
  for (const Pattern& part : parts_) text += (text.empty() ? "" : ":") + part.text();
  return text;
}

}  // namespace stator::policy
