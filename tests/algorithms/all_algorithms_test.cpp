// Every algorithm of the table, proved for many rank counts, roots, ring orders, replicas and aliasings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algorithms/verify.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

TEST(AllAlgorithms, prove_for_small_groups) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (int size = 1; size <= 32; ++size) {
      for (const int replicas : {1, 2, 3}) {
        if (replicas > 1 && !algorithm->replicable) continue;
        for (const bool in_place : {false, true}) {
          for (int root = 0; root < (has_root(algorithm->collective) ? size : 1); ++root) {
            BuildOptions options;
            options.root = root;
            options.replicas = replicas;
            options.in_place = in_place;
            const Status status = verify(build_schedule(*algorithm, flat_group(size), options));
            EXPECT_TRUE(status.ok()) << to_string(algorithm->collective) << '/' << algorithm->name << " size " << size
                                     << " replicas " << replicas << " in_place " << in_place << " root " << root << ": "
                                     << status.to_string();
            if (!status.ok()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::algorithms
