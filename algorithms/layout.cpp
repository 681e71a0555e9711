// Layout: which logical chunk lives where in a rank's Input and Output, for each collective. The only place that knows.
#include "weft/schedule.hpp"

namespace weft {

namespace {

// What part of the logical buffer a rank has in Input or Output.
enum class Part : std::uint8_t { Nothing, Everything, OwnBlock, Row, Column };

Part input_part(const Layout& layout, int rank) {
  switch (layout.collective) {
    case Collective::AllReduce:
    case Collective::Reduce:
    case Collective::ReduceScatter:
    case Collective::Barrier:
      return Part::Everything;
    case Collective::AllGather:
    case Collective::Gather:
      return Part::OwnBlock;
    case Collective::Broadcast:
    case Collective::Scatter:
      return rank == layout.root ? Part::Everything : Part::Nothing;
    case Collective::AllToAll:
      return Part::Row;
  }
  return Part::Nothing;
}

Part output_part(const Layout& layout, int rank) {
  switch (layout.collective) {
    case Collective::AllReduce:
    case Collective::AllGather:
    case Collective::Broadcast:
    case Collective::Barrier:
      return Part::Everything;
    case Collective::Reduce:
    case Collective::Gather:
      return rank == layout.root ? Part::Everything : Part::Nothing;
    case Collective::ReduceScatter:
    case Collective::Scatter:
      return Part::OwnBlock;
    case Collective::AllToAll:
      return Part::Column;
  }
  return Part::Nothing;
}

int local_index(const Layout& layout, Part part, int rank, int chunk) {
  const int c = layout.chunks_per_block;
  const int block = chunk / c;
  const int within = chunk % c;
  switch (part) {
    case Part::Nothing:
      return -1;
    case Part::Everything:
      return chunk;
    case Part::OwnBlock:
      return block == rank ? within : -1;
    case Part::Row:
      return block / layout.size == rank ? block % layout.size * c + within : -1;
    case Part::Column:
      return block % layout.size == rank ? block / layout.size * c + within : -1;
  }
  return -1;
}

int local_chunks(const Layout& layout, Part part) {
  switch (part) {
    case Part::Nothing:
      return 0;
    case Part::Everything:
      return layout.chunks();
    case Part::OwnBlock:
      return layout.chunks_per_block;
    case Part::Row:
    case Part::Column:
      return layout.size * layout.chunks_per_block;
  }
  return 0;
}

int chunk_at(const Layout& layout, Part part, int rank, int local) {
  if (local < 0 || local >= local_chunks(layout, part)) return -1;
  const int c = layout.chunks_per_block;
  switch (part) {
    case Part::Nothing:
      return -1;
    case Part::Everything:
      return local;
    case Part::OwnBlock:
      return rank * c + local;
    case Part::Row:
      return (rank * layout.size + local / c) * c + local % c;
    case Part::Column:
      return (local / c * layout.size + rank) * c + local % c;
  }
  return -1;
}

}  // namespace

int Layout::blocks() const {
  switch (collective) {
    case Collective::AllReduce:
    case Collective::Broadcast:
    case Collective::Reduce:
    case Collective::Barrier:
      return 1;
    case Collective::AllToAll:
      return size * size;
    default:
      return size;
  }
}

int Layout::input_index(int rank, int chunk) const { return local_index(*this, input_part(*this, rank), rank, chunk); }
int Layout::output_index(int rank, int chunk) const {
  return local_index(*this, output_part(*this, rank), rank, chunk);
}
int Layout::input_chunk(int rank, int local) const { return chunk_at(*this, input_part(*this, rank), rank, local); }
int Layout::output_chunk(int rank, int local) const { return chunk_at(*this, output_part(*this, rank), rank, local); }
int Layout::input_chunks(int rank) const { return local_chunks(*this, input_part(*this, rank)); }
int Layout::output_chunks(int rank) const { return local_chunks(*this, output_part(*this, rank)); }

// In all_to_all what goes out to a peer and what comes in from it share a place; elsewhere a place keeps its chunk.
int Layout::aliased_output(int rank, int input_local) const {
  const int chunk = input_chunk(rank, input_local);
  if (chunk < 0) return -1;
  return collective == Collective::AllToAll ? input_local : output_index(rank, chunk);
}

int Layout::aliased_input(int rank, int output_local) const {
  const int chunk = output_chunk(rank, output_local);
  if (chunk < 0) return -1;
  return collective == Collective::AllToAll ? output_local : input_index(rank, chunk);
}

std::uint64_t Layout::begin_element(int local_chunk, std::uint64_t n) const {
  const auto c = static_cast<std::uint64_t>(chunks_per_block);
  const auto local = static_cast<std::uint64_t>(local_chunk);
  // i * n / c without overflow: n = q * c + r.
  return local / c * n + local % c * (n / c) + local % c * (n % c) / c;
}

std::uint64_t Layout::elements(int chunk, std::uint64_t n) const {
  const int within = chunk % chunks_per_block;
  return (within + 1 == chunks_per_block ? n : begin_element(within + 1, n)) - begin_element(within, n);
}

int Layout::contributor(int chunk) const {
  const int block = chunk / chunks_per_block;
  switch (collective) {
    case Collective::AllReduce:
    case Collective::Reduce:
    case Collective::ReduceScatter:
    case Collective::Barrier:
      return -1;
    case Collective::Broadcast:
    case Collective::Scatter:
      return root;
    case Collective::AllGather:
    case Collective::Gather:
      return block;
    case Collective::AllToAll:
      return block / size;
  }
  return -1;
}

Layout layout_of(const Schedule& schedule) {
  return {schedule.collective, schedule.size, schedule.root, schedule.chunks_per_block};
}

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::Send:
      return "Send";
    case StepKind::Recv:
      return "Recv";
    case StepKind::RecvReduce:
      return "RecvReduce";
    case StepKind::Copy:
      return "Copy";
    case StepKind::Reduce:
      return "Reduce";
    case StepKind::Wait:
      return "Wait";
    case StepKind::RecvSend:
      return "RecvSend";
    case StepKind::RecvReduceSend:
      return "RecvReduceSend";
  }
  return "?";
}

std::string_view to_string(Space space) {
  switch (space) {
    case Space::None:
      return "none";
    case Space::Input:
      return "in";
    case Space::Output:
      return "out";
    case Space::Scratch:
      return "scratch";
  }
  return "?";
}

}  // namespace weft
