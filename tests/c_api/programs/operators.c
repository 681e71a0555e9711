/* Operators that a program makes, groups by a members' list, and what they cost. */
#include <stdint.h>
#include <string.h>

#include "tests/c_api/support/ranks.h"

enum { RANKS = 4, COUNT = 1000 };

/* The first element that is not zero: of lower ranks first, so it does not commute. */
static void first_set(void* context, void* result, const void* a, const void* b, size_t count) {
  const int32_t* left = a;
  const int32_t* right = b;
  int32_t* out = result;
  size_t i;
  (void)context;
  for (i = 0; i < count; ++i) out[i] = left[i] != 0 ? left[i] : right[i];
}

/* Rank r sets the elements i with i % RANKS <= r to r + 1. */
static void lower_ranks_come_first(struct rank* self) {
  int32_t in[COUNT];
  int32_t out[COUNT];
  int32_t wanted[COUNT];
  weft_reduce_op_t op = WEFT_SUM;
  int i;
  CHECK_OK(weft_red_op_create(&op, "first_set", first_set, NULL, WEFT_INT32, WEFT_OP_ASSOCIATIVE, self->comm));
  CHECK((int)op == 5);
  for (i = 0; i < COUNT; ++i) {
    in[i] = i % RANKS <= self->rank ? self->rank + 1 : 0;
    wanted[i] = i % RANKS + 1;
  }
  CHECK_OK(weft_all_reduce(in, out, COUNT, WEFT_INT32, op, self->comm, NULL));
  CHECK_BYTES(out, wanted, sizeof out, "first_set");
  CHECK_REFUSED(weft_all_reduce(in, out, COUNT, WEFT_FLOAT32, op, self->comm, NULL),
                "weft_all_reduce: the operator first_set was made for int32, not for float32");
  CHECK_OK(weft_red_op_destroy(op, self->comm));
  CHECK_REFUSED(weft_all_reduce(in, out, COUNT, WEFT_INT32, op, self->comm, NULL), "has no such operator");
  CHECK_REFUSED(weft_red_op_destroy(op, self->comm), "has no such operator");
}

static void a_factor_for_each_rank(struct rank* self) {
  float in[COUNT];
  float out[COUNT];
  float wanted[COUNT];
  const float factor = (float)(self->rank + 1);
  const uint16_t half = 0x3800; /* 0.5 */
  weft_reduce_op_t op = WEFT_SUM;
  int i;
  CHECK_OK(weft_red_op_create_pre_mul_sum(&op, &factor, WEFT_FLOAT32, WEFT_SCALAR_HOST_IMMEDIATE, self->comm));
  for (i = 0; i < COUNT; ++i) {
    in[i] = (float)i;
    wanted[i] = (float)(10 * i);
  }
  CHECK_OK(weft_all_reduce(in, out, COUNT, WEFT_FLOAT32, op, self->comm, NULL));
  CHECK_BYTES(out, wanted, sizeof out, "pre_mul_sum");
  CHECK_OK(weft_red_op_destroy(op, self->comm));
  CHECK_OK(weft_red_op_create_pre_mul_sum(&op, &half, WEFT_FLOAT16, WEFT_SCALAR_HOST_IMMEDIATE, self->comm));
  {
    uint16_t one = 0x3c00;
    const uint16_t two = 0x4000;
    CHECK_OK(weft_all_reduce(&one, &one, 1, WEFT_FLOAT16, op, self->comm, NULL));
    CHECK_BYTES(&one, &two, sizeof one, "half of one on four ranks");
  }
  CHECK_OK(weft_red_op_destroy(op, self->comm));
}

struct pair {
  double value;
  int64_t rank;
};

/* The larger value, and of equal ones the lower rank: commutes. */
static void larger(void* context, void* result, const void* a, const void* b, size_t count) {
  size_t i;
  (void)context;
  for (i = 0; i < count; ++i) {
    struct pair left, right;
    memcpy(&left, (const char*)a + i * sizeof left, sizeof left);
    memcpy(&right, (const char*)b + i * sizeof right, sizeof right);
    if (right.value > left.value || (right.value == left.value && right.rank < left.rank)) left = right;
    memcpy((char*)result + i * sizeof left, &left, sizeof left);
  }
}

static void structs(struct rank* self) {
  struct pair in, out;
  weft_data_type_t type = WEFT_INT8;
  weft_reduce_op_t op = WEFT_SUM;
  size_t bytes = 0;
  CHECK_OK(weft_opaque_type(sizeof in, &type));
  CHECK((int)type == 196);
  CHECK_OK(weft_data_type_size(type, &bytes));
  CHECK(bytes == sizeof in);
  CHECK_REFUSED(weft_opaque_type(24, &type), "bytes is 24; give a power of two up to 4096");
  CHECK_OK(
      weft_red_op_create(&op, "larger", larger, NULL, type, WEFT_OP_COMMUTATIVE | WEFT_OP_ASSOCIATIVE, self->comm));
  in.value = self->rank == 1 || self->rank == 2 ? 7 : 1;
  in.rank = self->rank;
  CHECK_OK(weft_all_reduce(&in, &out, 1, type, op, self->comm, NULL));
  CHECK(out.value == 7 && out.rank == 1);
  CHECK_OK(weft_red_op_destroy(op, self->comm));
}

static void what_makes_no_sense(struct rank* self) {
  weft_reduce_op_t op = WEFT_SUM;
  const int64_t large = ((int64_t)1 << 53) + 1;
  const float one = 1;
  CHECK_REFUSED(weft_red_op_create(NULL, "x", larger, NULL, WEFT_INT8, 0, self->comm), "op is null");
  CHECK_REFUSED(weft_red_op_create(&op, NULL, larger, NULL, WEFT_INT8, 0, self->comm), "name is null");
  CHECK_REFUSED(weft_red_op_create(&op, "x", NULL, NULL, WEFT_INT8, 0, self->comm), "combine is null");
  CHECK_REFUSED(weft_red_op_create(&op, "x", larger, NULL, WEFT_INT8, 4, self->comm), "properties is 0x4");
  CHECK_REFUSED(weft_red_op_create_pre_mul_sum(&op, NULL, WEFT_INT8, WEFT_SCALAR_HOST_IMMEDIATE, self->comm),
                "scalar is null");
  CHECK_REFUSED(weft_red_op_create_pre_mul_sum(&op, &large, WEFT_INT64, WEFT_SCALAR_HOST_IMMEDIATE, self->comm),
                "is beyond 2^53");
  CHECK_REFUSED(weft_red_op_create_pre_mul_sum(&op, &one, WEFT_BOOL, WEFT_SCALAR_HOST_IMMEDIATE, self->comm),
                "bool cannot be multiplied");
  CHECK_FAILS(weft_red_op_create_pre_mul_sum(&op, &one, WEFT_FLOAT32, WEFT_SCALAR_DEVICE, self->comm),
              WEFT_ERROR_UNSUPPORTED, "residence is 0");
  CHECK(op == WEFT_SUM);
}

static void groups(struct rank* self) {
  const int members[] = {3, 1};
  const int twice[] = {self->rank, self->rank};
  weft_comm_t pair = NULL;
  weft_cost_t cost;
  int rank = -1;
  int descriptor = -1;
  CHECK_REFUSED(weft_comm_split_members(self->comm, 2, twice, &pair), "is there twice");
  CHECK_REFUSED(weft_comm_split_members(self->comm, 0, twice, &pair), "count is 0");
  CHECK_REFUSED(weft_comm_split_members(self->comm, 2, NULL, &pair), "ranks is null");
  CHECK_REFUSED(weft_comm_split_members(self->comm, 2, members, NULL), "newcomm is null");
  CHECK_FAILS(weft_comm_get_event_fd(self->comm, &descriptor), WEFT_ERROR_UNSUPPORTED, "WEFT_PROGRESS_THREAD=1");
  CHECK_REFUSED(weft_comm_get_event_fd(self->comm, NULL), "descriptor is null");
  CHECK_REFUSED(weft_comm_get_cost(self->comm, NULL), "cost is null");
  cost.size = 8;
  CHECK_REFUSED(weft_comm_get_cost(self->comm, &cost), "cost->size is 8; set it to sizeof(weft_cost_t)");
  if (self->rank % 2 == 0) return;
  CHECK_OK(weft_comm_split_members(self->comm, 2, members, &pair));
  CHECK_OK(weft_comm_rank(pair, &rank));
  CHECK(rank == (self->rank == 3 ? 0 : 1));
  memset(&cost, 0x5a, sizeof cost);
  cost.size = sizeof cost;
  CHECK_OK(weft_comm_get_cost(pair, &cost));
  CHECK(cost.size == sizeof cost && cost.group_bytes > 0 && cost.group_bytes <= 16384);
  CHECK(cost.lanes == 0 && cost.lane_bytes == 0 && cost.descriptors == 0 && cost.threads == 0 && cost.reserved == 0);
  CHECK(cost.shared_communicators == 2 && cost.shared_descriptors > 0 && cost.shared_threads > 0);
  CHECK_OK(weft_barrier(pair, NULL));
  CHECK_OK(weft_comm_get_cost(pair, &cost));
  CHECK(cost.lanes == 1 && cost.lane_bytes > 0 && cost.plan_bytes > 0);
  CHECK_REFUSED(weft_comm_destroy(self->comm), "destroy them first");
  CHECK_OK(weft_comm_destroy(pair));
}

int main(void) {
  run_ranks(RANKS, PATIENT_MS, lower_ranks_come_first);
  run_ranks(RANKS, PATIENT_MS, a_factor_for_each_rank);
  run_ranks(RANKS, PATIENT_MS, structs);
  run_ranks(RANKS, PATIENT_MS, what_makes_no_sense);
  run_ranks(RANKS, PATIENT_MS, groups);
  return verdict();
}
