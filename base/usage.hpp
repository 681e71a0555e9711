// Usage: what a part of the library holds of what a process has few of.
#pragma once

namespace weft::base {

struct Usage {
  int descriptors = 0;
  int threads = 0;

  Usage& operator+=(const Usage& other) {
    descriptors += other.descriptors;
    threads += other.threads;
    return *this;
  }
};

// Of the whole process, as /proc tells it; zeros where that is not mounted.
Usage usage_of_process();

}  // namespace weft::base
