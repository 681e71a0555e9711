// Weft: collective communication and topology for distributed training. This header is all of it.
#pragma once

#include "weft/choice.hpp"
#include "weft/communicator.hpp"
#include "weft/cost.hpp"
#include "weft/graph.hpp"
#include "weft/group.hpp"
#include "weft/memory.hpp"
#include "weft/message.hpp"
#include "weft/operation.hpp"
#include "weft/operator.hpp"
#include "weft/options.hpp"
#include "weft/schedule.hpp"
#include "weft/schedule_builder.hpp"
#include "weft/status.hpp"
#include "weft/types.hpp"
#include "weft/version.hpp"
#include "weft/work.hpp"
