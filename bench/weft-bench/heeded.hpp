// Which task heeds which options. What a task would ignore is refused: whoever gives it expects something of it.
#pragma once

#include "bench/weft-bench/words.hpp"
#include "weft/status.hpp"

namespace weft::bench {

// InvalidArgument names the first option given that `task` would ignore, and the tasks that heed it.
Status refuse_ignored(const Words& words, Task task);

}  // namespace weft::bench
