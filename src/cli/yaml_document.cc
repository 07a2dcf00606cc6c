// SPDX-License-Identifier: Apache-2.0
#include "cli/yaml_document.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>

namespace stator::cli {
namespace {

constexpr std::size_t kYamlBytesMax = 1'000'000;
constexpr int kYamlNodesMax = 100'000;
constexpr int kYamlDepthMax = 64;

Failure bad(int line, const std::string& what) {
  const std::string where = line > 0 ? "line " + std::to_string(line) + ": " : std::string();
  return fail(Code::kInvalidArgument, where + what);
}

int line_of(const YAML::Mark& mark) {
  return mark.is_null() ? 0 : mark.line + 1;
}

class Converter {
 public:
  Result<YamlNode> convert(const YAML::Node& node, int depth) {
    const int line = line_of(node.Mark());
    if (depth > kYamlDepthMax) {
      return bad(line, "nested more than " + std::to_string(kYamlDepthMax) + " levels deep");
    }
    if (++nodes_ > kYamlNodesMax) {
      return bad(line, "more than " + std::to_string(kYamlNodesMax) + " values");
    }
    YamlNode converted{.line = line, .tag = own_tag(node)};
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        converted.kind = YamlNode::Kind::kScalar;
        converted.scalar = node.Scalar();
        return converted;
      case YAML::NodeType::Sequence:
        converted.kind = YamlNode::Kind::kList;
        for (const YAML::Node& element : node) {
          STATOR_ASSIGN_OR_RETURN(YamlNode child, convert(element, depth + 1));
          converted.list.push_back(std::move(child));
        }
        return converted;
      case YAML::NodeType::Map:
        return convert_map(node, depth, std::move(converted));
      default:
        return converted;
    }
  }

 private:
  Result<YamlNode> convert_map(const YAML::Node& node, int depth, YamlNode converted) {
    converted.kind = YamlNode::Kind::kMap;
    for (const auto& entry : node) {
      const int line = line_of(entry.first.Mark());
      if (!entry.first.IsScalar()) return bad(line, "a map key is not a string");
      const std::string& key = entry.first.Scalar();
      if (converted.find(key) != nullptr) return bad(line, "'" + key + "' is given twice");
      STATOR_ASSIGN_OR_RETURN(YamlNode child, convert(entry.second, depth + 1));
      converted.map.push_back({key, std::move(child)});
    }
    return converted;
  }

  // The parser tags plain scalars with "?" and quoted ones with "!".
  static std::string own_tag(const YAML::Node& node) {
    const std::string& tag = node.Tag();
    return tag.size() > 1 && tag.starts_with('!') ? tag : std::string();
  }

  int nodes_ = 0;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(map, key, &YamlEntry::key);
  return found == map.end() ? nullptr : &found->value;
}

Result<YamlNode> read_yaml(const std::string& text) {
  if (text.size() > kYamlBytesMax) {
    return bad(0, "larger than " + std::to_string(kYamlBytesMax) + " bytes");
  }
  try {
    return Converter().convert(YAML::Load(text), 1);
  } catch (const YAML::Exception& error) {
    return bad(line_of(error.mark), "not valid YAML: " + error.msg);
  } catch (const std::exception& error) {
    return bad(0, std::string("not valid YAML: ") + error.what());
  }
}

}  // namespace stator::cli
