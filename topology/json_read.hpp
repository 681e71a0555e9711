// Graphs out of documents that hold more, element by element: while a text is read nothing of it is held but the graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "topology/limits.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

enum class Reading {
  Keep,
  Check,     // all is read, and what takes many times the memory of its text is forgotten: first it must be right
  Complete,  // after Check: what that has forgotten is kept, and the rest passed over
};

// Keeps, or only checks, the elements of a list.
template <typename T>
class Gathered {
 public:
  Gathered(std::vector<T>& kept, Reading reading) : kept_(kept), reading_(reading) {}

  // Where the next element is read to; valid until the next call.
  T& next() {
    ++count_;
    if (reading_ != Reading::Check) return kept_.emplace_back();
    checked_ = T();
    return checked_;
  }
  std::size_t count() const { return count_; }

 private:
  std::vector<T>& kept_;
  Reading reading_;
  T checked_;
  std::size_t count_ = 0;
};

// Reads a graph that is a document, or its member "graph". It must stay where it is while the plan is used.
class GraphReader {
 public:
  GraphReader(Graph& graph, Reading reading);
  GraphReader(const GraphReader&) = delete;
  GraphReader& operator=(const GraphReader&) = delete;

  void add_to(base::JsonPlan& plan);
  // The other members, and whether the graph is sound: if it is checked only, whether it can be.
  Status finish(const base::JsonValue& document);

  std::size_t nodes() const { return nodes_.count(); }
  std::size_t hosts() const { return hosts_; }

 private:
  void add_lists(base::JsonPlan& plan, bool of_document);
  Status check_counts() const;
  Status read_node(const base::JsonValue& value);

  Graph& graph_;
  Reading reading_;
  Gathered<Node> nodes_;
  Gathered<Link> links_;
  Gathered<StatedClass> stated_;
  std::size_t hosts_ = 0;
  std::size_t switches_ = 0;        // of networks
  std::size_t names_ = 0;           // further ones, of all nodes
  bool lists_of_document_ = false;  // whether the document itself has elements, not its member "graph"
};

// Bounds of texts that nobody vouches for.
base::JsonPlan bounded_plan();

}  // namespace weft::topology
