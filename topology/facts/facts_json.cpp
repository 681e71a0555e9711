// Writes and reads every member that fields.hpp names.
#include "topology/facts/facts_json.hpp"

#include <concepts>
#include <string>
#include <type_traits>

#include "topology/facts/fields.hpp"

namespace weft::topology {
namespace {

using base::JsonObject;
using base::JsonValue;
using base::JsonWriter;

template <typename T>
concept Group = requires(T& facts) {
  visit_fields(facts, [](std::string_view, auto&) {});
};

template <Group T>
void write_group(JsonWriter& json, const T& facts);

struct Writer {
  JsonWriter& json;

  template <typename T>
  requires(!Group<T>) void operator()(std::string_view name, const T& known) { json.member(name, known); }
  template <Group T>
  void operator()(std::string_view name, const T& group) {
    if (group == T()) return;
    json.key(name);
    write_group(json, group);
  }
  template <typename T>
  void operator()(std::string_view name, const std::optional<T>& known) {
    if (!known) return;
    json.key(name);
    if constexpr (Group<T>)
      write_group(json, *known);
    else
      write_value(*known);
  }
  template <typename T>
  void operator()(std::string_view name, const std::vector<T>& list) {
    if (list.empty()) return;
    json.key(name);
    write_value(list);
  }

 private:
  template <typename T>
  void write_value(const T& value) {
    json.value(value);
  }
  template <Group T>
  void write_value(const std::vector<T>& list) {
    json.begin_list();
    for (const T& element : list) write_group(json, element);
    json.end_list();
  }
};

template <Group T>
void write_group(JsonWriter& json, const T& facts) {
  json.begin_object();
  visit_fields(facts, Writer{json});
  json.end_object();
}

template <Group T>
Status read_group(const JsonValue& value, T& facts);

// Reads one value of any type that facts have.
template <typename T>
Status read_value(const JsonValue& value, T& target) {
  if constexpr (Group<T>)
    return read_group(value, target);
  else
    return value.read(target);
}
template <typename T>
Status read_value(const JsonValue& value, std::vector<T>& list) {
  return value.read_list(std::same_as<T, DeviceFacts> ? kMaxFactsDevices : kMaxFactsEntries,
                         [&](const JsonValue& element) { return read_value(element, list.emplace_back()); });
}

struct Reader {
  JsonObject& object;

  template <typename T>
  void operator()(std::string_view name, T& target) {
    if constexpr (Group<T>)
      object.optional_by(name, [&](const JsonValue& value) { return read_group(value, target); });
    else
      object.required(name, target);
  }
  template <typename T>
  void operator()(std::string_view name, std::optional<T>& target) {
    object.optional_by(name, [&](const JsonValue& value) { return read_value(value, target.emplace()); });
  }
  template <typename T>
  void operator()(std::string_view name, std::vector<T>& list) {
    object.optional_by(name, [&](const JsonValue& value) { return read_value(value, list); });
  }
};

template <Group T>
Status read_group(const JsonValue& value, T& facts) {
  JsonObject object(value);
  visit_fields(facts, Reader{object});
  return object.finish();
}

}  // namespace

void write_facts(JsonWriter& json, const HostFacts& facts) { write_group(json, facts); }

Status read_facts(const JsonValue& value, HostFacts& facts) { return read_group(value, facts); }

}  // namespace weft::topology
