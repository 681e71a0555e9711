// A thread for each process, that carries its lines to rank 0.
#include "rdma_agent.hpp"

#include <fmt/format.h>

#include "base/parse.hpp"
#include "topology/facts/readers.hpp"
#include "topology/sources.hpp"
#include "topology/vendor/vendor.hpp"

namespace weft::topo_probe {
namespace {

constexpr int kSessionMs = 5'000;

Result<topology::Helper> start(std::string_view port) {
  const topology::Tree tree("/");
  const std::string library = topology::find_vendor_libraries({tree, topology::read_environment(tree)}).verbs;
  const std::string program = topology::find_helper();
  if (library.empty()) return Status(Code::NotFound, "libibverbs.so.1 is not there");
  if (program.empty()) return Status(Code::NotFound, "there is no libexec/weft/weft-vendor beside libweft");
  std::vector<std::string> arguments = {topology::kRdma, library};
  for (std::string_view word : base::split(port, ' ')) arguments.emplace_back(word);
  return topology::Helper::start(program, arguments);
}

}  // namespace

RdmaAgent::~RdmaAgent() {
  for (auto& [number, session] : sessions_) session.helper.hang_up();
}

bool RdmaAgent::handle(const StreamMessage& message) {
  if (message.kind != topology::kRdma) return false;
  if (message.word == "open")
    open(message.number, message.rest);
  else if (message.word == "join")
    tell(message.number, fmt::format("join {}", message.rest));
  else if (message.word == "write")
    tell(message.number, "write");
  else if (message.word == "check")
    tell(message.number, fmt::format("check {}", message.rest));
  else if (const auto found = sessions_.find(message.number); message.word == "close" && found != sessions_.end())
    found->second.helper.hang_up();
  return true;
}

void RdmaAgent::open(int number, std::string_view port) {
  std::erase_if(sessions_, [](const auto& entry) { return entry.second.over.load(); });
  if (sessions_.contains(number)) return;
  Result<topology::Helper> helper = start(port);
  if (!helper) return reply("failed", number, helper.error().message());
  Session& session = sessions_.try_emplace(number, std::move(*helper)).first->second;
  session.listening = std::jthread([this, number, &session] { listen(number, session); });
}

void RdmaAgent::tell(int number, const std::string& line) {
  const auto found = sessions_.find(number);
  if (found == sessions_.end()) return reply("failed", number, "it was not opened");
  // If it does not listen, the thread that hears it tells why.
  static_cast<void>(found->second.helper.say(line).ok());
}

void RdmaAgent::listen(int number, Session& session) {
  const auto deadline = deadline_.at_most_ms(kSessionMs);
  for (;;) {
    const Result<std::optional<std::string>> line = session.helper.next_line(deadline);
    if (!line) reply("failed", number, line.error().message());
    if (!line || !*line) break;
    const std::string_view text = **line;
    const std::size_t end = std::min(text.find(' '), text.size());
    reply(text.substr(0, end), number, text.substr(std::min(end + 1, text.size())));
  }
  session.over = true;
}

void RdmaAgent::reply(std::string_view word, int number, std::string_view rest) {
  reply_(to_text({topology::kRdma, word, number, rest}));
}

}  // namespace weft::topo_probe
