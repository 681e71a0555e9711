// A system that gives no more threads, while this object lives: new ones ask for a stack larger than the address space.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace weft::test {

class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    pthread_attr_getstacksize(&attributes, &stack_bytes_);
    pthread_attr_destroy(&attributes);
    set_stack(std::size_t{1} << 47);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;
  ~NoMoreThreads() { set_stack(stack_bytes_); }

 private:
  static void set_stack(std::size_t bytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }

  std::size_t stack_bytes_ = 0;
};

}  // namespace weft::test
