/* Ranks that are threads of a C test, and how a test says what is wrong: a line for each complaint, and an exit status.
 */
#ifndef TESTS_C_API_SUPPORT_RANKS_H_
#define TESTS_C_API_SUPPORT_RANKS_H_

#include <stddef.h>

#include "weft/weft.h"

/* What a body gets: its communicator over all ranks of the job, which is destroyed after it. */
struct rank {
  int rank;
  int size;
  weft_comm_t comm;
};

/* Runs `body` on `size` threads and waits for all, for two minutes at most. Without communicators if `timeout_ms` is 0.
 */
void run_ranks(int size, int timeout_ms, void (*body)(struct rank* self));
/* A deadline that no healthy test reaches. */
#define PATIENT_MS 60000

/* The options of a job: shared memory, and this deadline. */
weft_options_t options_of(int timeout_ms);

/* The ranks of the present job meet: none goes on before all have come. */
void meet(void);

/* The exit status of main: 0 if nothing was wrong; says how much was checked. */
int verdict(void);

/* True if right; else it complains. */
int check(int right, const char* file, int line, const char* what);
int check_status(weft_status_t got, weft_status_t wanted, const char* words, const char* file, int line,
                 const char* what);
/* Of equal bytes: names the first that differs. */
int check_bytes(const void* got, const void* wanted, size_t bytes, const char* file, int line, const char* what);

#define CHECK(condition) check((condition) != 0, __FILE__, __LINE__, #condition)
#define CHECK_OK(call) check_status((call), WEFT_SUCCESS, "", __FILE__, __LINE__, #call)
/* The status, and words in weft_last_error(NULL). */
#define CHECK_FAILS(call, status, words) check_status((call), (status), (words), __FILE__, __LINE__, #call)
#define CHECK_REFUSED(call, words) CHECK_FAILS(call, WEFT_ERROR_INVALID_ARGUMENT, words)
#define CHECK_BYTES(got, wanted, bytes, what) check_bytes((got), (wanted), (bytes), __FILE__, __LINE__, (what))

#endif
