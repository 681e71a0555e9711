/* Weft for C, and for every language that can call C: collectives between the processes of a job, on host memory.
 *
 * Names, the order of arguments, the meaning of counts, and the numbers of the types and operators that both have are
 * those of NCCL; where NCCL has a stream there is a request. docs/c-api.md is a guide; this file is the contract.
 *
 * Calls     All ranks of a communicator make the same collective calls in the same order. Other calls are
 *           WEFT_ERROR_MISMATCH on all ranks, with a text that names both.
 * Errors    Every function that can fail gives a weft_status_t, and no other sign. On failure an output argument is
 *           untouched unless its function says otherwise, and weft_last_error() has a sentence that names the argument
 *           or the rank, and the remedy. WEFT_ERROR_INVALID_ARGUMENT is found before anything is sent: the communicator
 *           goes on as if the call had not been made. MISMATCH, PEER_LOST, TIMEOUT and ABORTED end it on all its ranks,
 *           but for the TIMEOUT of a message with a timeout_ms of its own: later calls give the first error again, and
 *           what is left is to destroy it. Of other errors weft_comm_get_async_error() tells whether they did. Nothing
 *           is thrown.
 * Threads   A communicator, all that are split from it and their requests are for one thread at a time, but for
 *           weft_comm_abort(), weft_comm_get_async_error(), weft_comm_rank(), weft_comm_size() and weft_last_error(),
 *           which any thread may call at any time before the communicator is destroyed. A request is tested and waited
 *           for by the thread that started it. Communicators that were not split from each other may be used by
 *           different threads at the same time. No function may be called in a signal handler, nor in a child after
 *           fork() with a communicator of the parent's.
 * Ownership Handles are the library's; each says how it ends. Null and handles of something else are refused; one that
 *           has ended is refused for as long as its memory is not used again, so set it to NULL.
 *           Memory that a caller passes stays the caller's. Texts, arrays of counts and offsets, options and ids are
 *           read during the call and not afterwards. Buffers are the operation's until it is done.
 * Units     Counts and offsets are in elements, sizes called bytes in bytes, times in milliseconds (timeout_ms).
 * Waiting   No wait is for ever: weft_options_t.timeout_ms is how long one may go on without anything moving.
 *
 * C99 or later, and C++. */
#ifndef WEFT_WEFT_H_
#define WEFT_WEFT_H_

#include <stddef.h>
#include <stdint.h>

#include "weft/version.h"

#ifdef __cplusplus
#define WEFT_ENUM_TYPE : int32_t /* whatever a caller passes is a value of the type, and can be refused */
extern "C" {
#else
#define WEFT_ENUM_TYPE
#endif

typedef struct weft_comm* weft_comm_t;       /* ranks that compute together */
typedef struct weft_request* weft_request_t; /* an operation in flight */

/* ---- Results ---- */

typedef enum weft_status WEFT_ENUM_TYPE {
  WEFT_SUCCESS = 0,
  WEFT_ERROR_INVALID_ARGUMENT = 1,   /* an argument is wrong; the text names it and the remedy */
  WEFT_ERROR_NOT_FOUND = 2,          /* a name (file, algorithm, host) that does not exist */
  WEFT_ERROR_UNSUPPORTED = 3,        /* correct in principle, but not with this build or on this machine */
  WEFT_ERROR_MISMATCH = 4,           /* ranks made different calls; the text names both */
  WEFT_ERROR_PEER_LOST = 5,          /* a rank died or its connection broke; weft_last_error_peer() is that rank */
  WEFT_ERROR_TIMEOUT = 6,            /* a wait passed its deadline; the text says who waited for whom */
  WEFT_ERROR_ABORTED = 7,            /* the communicator was aborted, here or by a peer */
  WEFT_ERROR_RESOURCE_EXHAUSTED = 8, /* memory, descriptors, ports */
  WEFT_ERROR_CORRUPT = 9,            /* bytes that another program wrote do not parse */
  WEFT_ERROR_SYSTEM = 10,            /* the operating system, or a callback, refused */
  WEFT_ERROR_INTERNAL = 11,          /* a mistake in Weft */
  WEFT_IN_PROGRESS = 100             /* no error: weft_wait() returned before the operation was done */
} weft_status_t;

/* "invalid argument", "peer lost", ...; "unknown status" for other numbers. Any thread; a constant, never null. */
const char* weft_error_string(weft_status_t status);

/* comm null: why the last call that failed on this thread did. Else: why the last call that failed on this communicator
 * did, on whichever thread. Empty if none has; never null. The text is valid until this thread calls weft_last_error()
 * again or another call of this thread fails. */
const char* weft_last_error(weft_comm_t comm);

/* The rank that caused the error of weft_last_error(comm), as ranks of the communicator that reported it; -1 if no
 * single rank did. Any thread. */
int weft_last_error_peer(weft_comm_t comm);

/* The library's version as WEFT_VERSION_CODE. Any thread. INVALID_ARGUMENT: version is null. */
weft_status_t weft_get_version(int* version);

/* ---- Types and operators ---- */

/* NCCL's numbers; Weft's own begin at 128. */
typedef enum weft_data_type WEFT_ENUM_TYPE {
  WEFT_INT8 = 0,
  WEFT_UINT8 = 1,
  WEFT_INT32 = 2,
  WEFT_UINT32 = 3,
  WEFT_INT64 = 4,
  WEFT_UINT64 = 5,
  WEFT_FLOAT16 = 6,
  WEFT_FLOAT32 = 7,
  WEFT_FLOAT64 = 8,
  WEFT_BFLOAT16 = 9,
  WEFT_FLOAT8_E4M3 = 10, /* OFP8: no infinity, up to 448 */
  WEFT_FLOAT8_E5M2 = 11, /* OFP8: up to 57344, then infinity */
  WEFT_BOOL = 128        /* one byte, 0 or 1 */
} weft_data_type_t;

/* NCCL's numbers; Weft's own are negative, because handles of operators that a
 * program makes are from 5 up, as in NCCL. AVG is the sum
 * divided by the number of ranks, for integers truncated towards zero. The bit operators are for integers and BOOL. On
 * BOOL, SUM and MAX are "or", PROD and MIN are "and", and AVG is refused. */
typedef enum weft_reduce_op WEFT_ENUM_TYPE {
  WEFT_SUM = 0,
  WEFT_PROD = 1,
  WEFT_MAX = 2,
  WEFT_MIN = 3,
  WEFT_AVG = 4,
  WEFT_BIT_AND = -1,
  WEFT_BIT_OR = -2,
  WEFT_BIT_XOR = -3
} weft_reduce_op_t;

/* How the numbers of a call travel: as they are, or in blocks of 256 elements as the largest magnitude of each block
 * and a byte for every element (docs/numerics.md): for links that are slow. */
typedef enum weft_quantisation WEFT_ENUM_TYPE {
  WEFT_QUANTISE_NONE = 0,
  WEFT_QUANTISE_INT8 = 1, /* off by the 254th part of a block's largest magnitude at most */
  WEFT_QUANTISE_E4M3 = 2  /* by the 28th, but small elements by less */
} weft_quantisation_t;

/* The bytes of one element. Any thread. INVALID_ARGUMENT: no such type, or bytes is null. */
weft_status_t weft_data_type_size(weft_data_type_t datatype, size_t* bytes);

/* The type of elements of so many bytes of which only the caller knows what is in them: a struct, say. Its number is
 * 192 + log2(bytes). Reducing collectives take it with an operator made for it, the others as any type. Any thread.
 * INVALID_ARGUMENT: datatype is null, or bytes is no power of two up to 4096; pad the struct. */
weft_status_t weft_opaque_type(size_t bytes, weft_data_type_t* datatype);

/* ---- Options ---- */

/* A setting that is on, off, or as the environment has it. */
typedef enum weft_switch WEFT_ENUM_TYPE { WEFT_OFF = -1, WEFT_DEFAULT = 0, WEFT_ON = 1 } weft_switch_t;

#define WEFT_OPTIONS_VERSION 1

/* How a communicator is made. A field that is zero or NULL is what its WEFT_* variable says (docs/configuration.md), or
 * the default. Start with WEFT_OPTIONS_INITIALIZER:
 *
 *   weft_options_t options = WEFT_OPTIONS_INITIALIZER;
 *   options.timeout_ms = 30000;
 *
 * Later versions add fields at the end. A library takes shorter structures of older headers, and longer ones of newer
 * headers as long as what it does not know is zero; else INVALID_ARGUMENT names the first byte that is not. */
typedef struct weft_options {
  size_t size;                   /* sizeof(weft_options_t) */
  uint32_t version;              /* WEFT_OPTIONS_VERSION: of what the fields mean */
  int32_t timeout_ms;            /* WEFT_TIMEOUT (in seconds there); 600000 */
  int32_t channels;              /* WEFT_CHANNELS; chosen with the algorithm */
  weft_switch_t progress_thread; /* WEFT_PROGRESS_THREAD; off. A helper drives operations between waits */
  const char* transports;        /* WEFT_TRANSPORTS: "shm,ucx", in order of preference; all */
  const char* algorithms;        /* WEFT_ALGORITHMS: "all_reduce:0-4k:recursive_doubling;all_reduce:4k-:ring" */
  const char* topology_file;     /* WEFT_TOPOLOGY: read instead of probing */
  const char* network_interface; /* WEFT_INTERFACE: for UCX and the store: "eth0", "eth0,eth1" */
  const char* host_id;           /* WEFT_HOST_ID: separates ranks of one machine */
  const char* log_level;         /* WEFT_LOG: debug, info, warn, error, off; warn */
  const char* numerics;          /* WEFT_NUMERICS: "fast" or "invariant"; fast */
  const char* table_file;        /* WEFT_TABLE: what weft-bench --tune and --calibrate measured; none */
  const char* schedule_files;    /* WEFT_SCHEDULES: "ring.json:tree.json", besides the built-in algorithms; none */
} weft_options_t;

#define WEFT_OPTIONS_INITIALIZER \
  { sizeof(weft_options_t), WEFT_OPTIONS_VERSION, 0, 0, WEFT_DEFAULT, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* ---- Communicators ---- */

/* A communicator is made by one of these three, collectively over its ranks; ends with weft_comm_destroy(). `options`
 * may be NULL. weft_comm_init() is for one thread of a process at a time; the others may be called by several at once,
 * also for ranks of the same communicator.
 *
 * Errors, in the same words on all ranks where they can be told: INVALID_ARGUMENT names the argument or option; TIMEOUT
 * names the ranks that did not come; UNSUPPORTED, NOT_FOUND, RESOURCE_EXHAUSTED, SYSTEM: what one rank lacks. */

/* Rank, size and meeting place from the launcher: mpirun, srun, torchrun, or WEFT_RANK, WEFT_SIZE and WEFT_RENDEZVOUS;
 * without any, one rank. See docs/launching.md. */
weft_status_t weft_comm_init(weft_comm_t* comm, const weft_options_t* options);

#define WEFT_UNIQUE_ID_BYTES 512

/* Where ranks meet, as bytes that a program hands to all of them: by a file, MPI, a socket. Printable text, padded with
 * zeros. */
typedef struct weft_unique_id {
  char internal[WEFT_UNIQUE_ID_BYTES];
} weft_unique_id_t;

/* Makes an id. Call it on the host on which rank 0 will be, once for each communicator, and give all ranks the same
 * bytes. Opens nothing and keeps nothing. Takes addresses of WEFT_INTERFACE if that is set (of the
 * first it names), else of all interfaces. Any thread. NOT_FOUND: no interface with an address; SYSTEM: the system gave
 * no port or random number. */
weft_status_t weft_get_unique_id(weft_unique_id_t* id);

/* As ncclCommInitRankConfig: rank `rank` of `nranks` that hold the same id. */
weft_status_t weft_comm_init_rank(weft_comm_t* comm, int nranks, weft_unique_id_t id, int rank,
                                  const weft_options_t* options);

/* An all_gather of the caller's own, e.g. by MPI or a file system: gives every rank the `bytes` bytes of `mine` of all
 * ranks, in their order, in `all` (nranks * bytes). 0: done; any other number is reported as the reason for failure.
 * Must return the same to all ranks if it can, and must not wait for ever. */
typedef int (*weft_all_gather_callback_t)(void* context, const void* mine, void* all, size_t bytes);

/* Rank `rank` of `nranks` that meet by `all_gather`, which is called once, with `context`, on this thread, during this
 * call. SYSTEM: the callback failed; MISMATCH: it brought bytes of another rank, or ranks of another size. */
weft_status_t weft_comm_init_callback(weft_comm_t* comm, int nranks, int rank, weft_all_gather_callback_t all_gather,
                                      void* context, const weft_options_t* options);

#define WEFT_SPLIT_NOCOLOR (-1)

/* Collective over comm. Ranks with the same color (0 or more) form a new communicator, ordered by key, then by their
 * rank in comm; those with WEFT_SPLIT_NOCOLOR get NULL. Ends with weft_comm_destroy(), before comm does. Costs no
 * connection. INVALID_ARGUMENT: comm, newcomm or color; another thread splits comm, or what it was split with. */
weft_status_t weft_comm_split(weft_comm_t comm, int color, int key, weft_comm_t* newcomm);

/* The same for ranks that know each other, and called by them only: `ranks` are `count` ranks of comm, this one among
 * them, which get their new ranks in this order. All give the same list, and make such calls in the same order. Costs
 * two messages for each member but one. INVALID_ARGUMENT: comm, newcomm, ranks; a rank that does not exist, is there
 * twice, or is not this one's. MISMATCH, TIMEOUT and others end comm on all its ranks. */
weft_status_t weft_comm_split_members(weft_comm_t comm, int count, const int* ranks, weft_comm_t* newcomm);

/* What a communicator takes of this process; docs/groups.md says what the numbers mean. */
typedef struct weft_cost {
  size_t size;            /* sizeof(weft_cost_t); set by the caller */
  uint64_t group_bytes;   /* what an unused group costs */
  uint64_t plan_bytes;    /* calls that it knows and their plans */
  uint64_t scratch_bytes; /* where algorithms keep what is on its way */
  uint64_t lane_bytes;    /* set aside by transports; untouched pages take no memory */
  uint64_t model_bytes;   /* this and what follows shared_: of all communicators split from the same one */
  int32_t lanes; /* one for each peer and channel that a plan uses, and for each peer of messages */
  int32_t descriptors;
  int32_t threads;
  int32_t shared_communicators;
  int32_t shared_connections;
  int32_t shared_descriptors;
  int32_t shared_threads;
  int32_t reserved;
} weft_cost_t;

/* Fills cost->size bytes of *cost. Later versions add fields at the end; those that this library does not know become
 * zero. INVALID_ARGUMENT: comm, cost is null, or cost->size is less than that of the first version. */
weft_status_t weft_comm_get_cost(weft_comm_t comm, weft_cost_t* cost);

/* A descriptor for a loop of the caller's own (poll, epoll): readable when operations of comm have ended since it was
 * last read. Then read its 8 bytes, weft_test() the requests, and poll again. It is the communicator's, which closes
 * it. INVALID_ARGUMENT: comm, or descriptor is null; UNSUPPORTED: options.progress_thread is not WEFT_ON. */
weft_status_t weft_comm_get_event_fd(weft_comm_t comm, int* descriptor);

/* This rank, from 0, and the number of ranks. INVALID_ARGUMENT: comm, or the pointer is null. */
weft_status_t weft_comm_rank(weft_comm_t comm, int* rank);
weft_status_t weft_comm_size(weft_comm_t comm, int* size);

/* Ends all that is in flight, here and on the peers, with ABORTED; waits for no peer. `reason` (may be NULL) becomes
 * part of the error's text. Unlike ncclCommAbort the communicator is still there, and must be destroyed. Any thread. */
weft_status_t weft_comm_abort(weft_comm_t comm, const char* reason);

/* The first error that the communicator has met, also one that no call has reported yet, such as the death of a peer;
 * WEFT_SUCCESS in *error if none. Its text is then weft_last_error(comm). Waits for nothing. Any thread. */
weft_status_t weft_comm_get_async_error(weft_comm_t comm, weft_status_t* error);

/* Symmetric memory: the other ranks of a host read a buffer in it where it lies, so that what is sent from there is not
 * copied on the way. Collective; all ranks ask for as many bytes (else MISMATCH). Zeroed, on pages of its own; buffers
 * of any call may lie in it, on some ranks or on all. *buffer is the communicator's until weft_mem_free(), or
 * weft_comm_destroy(). RESOURCE_EXHAUSTED on all ranks names the one that has no memory. Ranks that cannot read each
 * other's memory are no error: between them messages are copied. Unlike ncclMemAlloc it needs the communicator. */
weft_status_t weft_mem_alloc(void** buffer, size_t bytes, weft_comm_t comm);

/* Collective, of the same memory on all ranks; no call may be using it. INVALID_ARGUMENT, and nothing happens: it is
 * not what weft_mem_alloc() gave for comm. */
weft_status_t weft_mem_free(void* buffer, weft_comm_t comm);

/* Collective, optional, before weft_comm_destroy(): checks that all ranks made the same calls and took all messages;
 * MISMATCH if not. INVALID_ARGUMENT: operations are still in flight; wait for them first. */
weft_status_t weft_comm_close(weft_comm_t comm);

/* Ends comm. What is in flight is waited for, by the deadline; its requests stay valid, with their outcomes, until they
 * are waited for or freed. INVALID_ARGUMENT, and nothing happens: communicators split from it are still there. NULL is
 * not an error. */
weft_status_t weft_comm_destroy(weft_comm_t comm);

/* ---- Operators of the caller's own ----
 *
 * Made for one communicator, at most 64 at a time; handles are numbers from 5 up, as NCCL's. A reducing collective needs
 * one on every rank: of the same name, type and properties, whatever the handle; else MISMATCH. They end with
 * weft_red_op_destroy() or their communicator; calls with one that was destroyed are INVALID_ARGUMENT, and its handle is
 * given again after 127 others, not before. */

/* NCCL's numbers. */
typedef enum weft_scalar_residence WEFT_ENUM_TYPE {
  WEFT_SCALAR_DEVICE = 0, /* UNSUPPORTED */
  WEFT_SCALAR_HOST_IMMEDIATE = 1
} weft_scalar_residence_t;

/* As ncclRedOpCreatePreMulSum: the sum of the inputs, each multiplied by the scalar of its rank. `scalar` is one element
 * of `datatype`, read during the call. Products are rounded to the type. INVALID_ARGUMENT: op, scalar, comm, datatype;
 * WEFT_BOOL and opaque types; a 64-bit integer beyond 2^53. */
weft_status_t weft_red_op_create_pre_mul_sum(weft_reduce_op_t* op, const void* scalar, weft_data_type_t datatype,
                                             weft_scalar_residence_t residence, weft_comm_t comm);

/* result[i] = a[i] op b[i] for `count` elements, aligned to nothing; `a` is of lower ranks than `b` unless the operator
 * is commutative. `result` is `a`, is `b`, or overlaps neither. Called on threads that drive operations, with any count;
 * must not throw, and not call this library. */
typedef void (*weft_combine_callback_t)(void* context, void* result, const void* a, const void* b, size_t count);

/* Promises. With both any algorithm runs the operator; else one that keeps the ranks in their order. */
#define WEFT_OP_COMMUTATIVE 1u /* a op b has the same bits as b op a */
#define WEFT_OP_ASSOCIATIVE 2u /* brackets may be placed anywhere */

/* `name` (1 to 64 characters) is copied; `context` must live as long as the operator. INVALID_ARGUMENT: op, name,
 * combine, datatype, properties, comm; RESOURCE_EXHAUSTED: there are 64. */
weft_status_t weft_red_op_create(weft_reduce_op_t* op, const char* name, weft_combine_callback_t combine, void* context,
                                 weft_data_type_t datatype, unsigned properties, weft_comm_t comm);

/* INVALID_ARGUMENT: comm, an op that it has not made, or operations with it are in flight. */
weft_status_t weft_red_op_destroy(weft_reduce_op_t op, weft_comm_t comm);

/* ---- Requests ---- */

/* An operation in flight. Every collective takes a weft_request_t* as its last argument. NULL: the call returns when
 * the operation is done, with its outcome. Else it returns at once with a request in *request; operations in flight
 * move on whenever the thread that started them waits or tests. If the call fails, *request is NULL.
 *
 * A request ends, and *request becomes NULL, by the call below that finds it done. A null *request counts as done. */

/* *done = 1, the request's end, and the operation's outcome as result; or *done = 0 and WEFT_SUCCESS. Moves things on,
 * never blocks. Does not find out why nothing moves: a loop over weft_test() alone never gives TIMEOUT or MISMATCH;
 * weft_wait(request, 1) does. INVALID_ARGUMENT: request, done, or the wrong thread; the request is untouched. */
weft_status_t weft_test(weft_request_t* request, int* done);

#define WEFT_UNTIL_DEADLINE (-1)

/* Waits until the operation is done and gives its outcome, at most about timeout_ms: WEFT_IN_PROGRESS if it goes on and
 * the request with it; wait again. WEFT_UNTIL_DEADLINE: as long as the communicator's options allow. All that the
 * thread has in flight moves on meanwhile. Time without movement adds up over the waits for a request until the
 * communicator's timeout, then TIMEOUT; finding out whom to blame may take another second. INVALID_ARGUMENT: request,
 * timeout_ms, or the wrong thread; the request is untouched. */
weft_status_t weft_wait(weft_request_t* request, int timeout_ms);

/* Waits as weft_wait(request, WEFT_UNTIL_DEADLINE), and drops the outcome (weft_comm_get_async_error() has it if it
 * ended the communicator). To end an operation sooner, abort its communicator first. INVALID_ARGUMENT as weft_wait().
 */
weft_status_t weft_request_free(weft_request_t* request);

/* ---- Collectives ----
 *
 * `count` is per rank, as in NCCL. Buffers must not overlap unless they are used in place:
 *
 *   all_reduce, reduce, broadcast, all_to_all   recvbuff == sendbuff
 *   all_gather, gather at the root              sendbuff == recvbuff + rank * count elements
 *   reduce_scatter, scatter at the root         recvbuff == sendbuff + rank * count elements
 *
 * A buffer that a rank does not use may be NULL: recvbuff of reduce and gather, sendbuff of broadcast and scatter, off
 * the root; and both where count is 0.
 *
 * Called by one thread of a communicator at a time. INVALID_ARGUMENT, before anything is sent: comm, a null or
 * overlapping buffer, datatype, op, one that is not defined for the type, root, a count beyond 2^47 bytes in all. Other
 * errors: MISMATCH, PEER_LOST, TIMEOUT, ABORTED, RESOURCE_EXHAUSTED, UNSUPPORTED (no transport reaches a rank);
 * recvbuff then holds anything. Without an error sendbuff is unchanged, unless it is in place. */

/* recvbuff[i] = op over all ranks of sendbuff[i], for i < count; the same bits on all ranks. */
weft_status_t weft_all_reduce(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype,
                              weft_reduce_op_t op, weft_comm_t comm, weft_request_t* request);

/* The same at the root only. */
weft_status_t weft_reduce(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype,
                          weft_reduce_op_t op, int root, weft_comm_t comm, weft_request_t* request);

/* The root's sendbuff, of count elements, to every rank's recvbuff. */
weft_status_t weft_broadcast(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype, int root,
                             weft_comm_t comm, weft_request_t* request);

/* Rank r's sendcount elements to recvbuff[r * sendcount] on all ranks. */
weft_status_t weft_all_gather(const void* sendbuff, void* recvbuff, size_t sendcount, weft_data_type_t datatype,
                              weft_comm_t comm, weft_request_t* request);

/* recvbuff[i] = op over all ranks of sendbuff[rank * recvcount + i], for i < recvcount. */
weft_status_t weft_reduce_scatter(const void* sendbuff, void* recvbuff, size_t recvcount, weft_data_type_t datatype,
                                  weft_reduce_op_t op, weft_comm_t comm, weft_request_t* request);

/* sendbuff[r * count ...] to rank r, for every r; what rank r sends lands at recvbuff[r * count]. */
weft_status_t weft_all_to_all(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype,
                              weft_comm_t comm, weft_request_t* request);

/* Rank r's count elements to recvbuff[r * count] at the root. */
weft_status_t weft_gather(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype, int root,
                          weft_comm_t comm, weft_request_t* request);

/* The root's sendbuff[r * count ...] to rank r's recvbuff. */
weft_status_t weft_scatter(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype, int root,
                           weft_comm_t comm, weft_request_t* request);

/* Done on a rank only after all ranks have called it. INVALID_ARGUMENT: comm. */
weft_status_t weft_barrier(weft_comm_t comm, weft_request_t* request);

/* weft_all_reduce() of many buffers: buffer i has counts[i] elements, from sendbuffs[i] to recvbuffs[i], which may be
 * the same. Short ones share a call. All ranks give equal counts (else MISMATCH). Blocks, also in a group. Errors name
 * the first buffer that is wrong; INVALID_ARGUMENT besides: an array is null. */
weft_status_t weft_all_reduce_list(const void* const* sendbuffs, void* const* recvbuffs, const size_t* counts,
                                   size_t buffers, weft_data_type_t datatype, weft_reduce_op_t op, weft_comm_t comm);

/* weft_all_reduce(), quantised: what each rank puts in once, and the sum once more, never between. FLOAT32, FLOAT16 and
 * BFLOAT16, SUM and AVG. The same bits on all ranks, whatever the algorithms, and the same error: at most
 * u * (the sum over ranks of the input blocks' largest magnitudes + that of the result's block), u = 1/254 (INT8) or
 * 1/28 (E4M3), and the rounding of float. What is not finite becomes NaN, at its place only. INVALID_ARGUMENT also:
 * quantisation, or what cannot be quantised. */
weft_status_t weft_all_reduce_quantised(const void* sendbuff, void* recvbuff, size_t count, weft_data_type_t datatype,
                                        weft_reduce_op_t op, weft_quantisation_t quantisation, weft_comm_t comm,
                                        weft_request_t* request);

/* weft_all_gather(), quantised. Also the own elements come back as the others get them. */
weft_status_t weft_all_gather_quantised(const void* sendbuff, void* recvbuff, size_t sendcount,
                                        weft_data_type_t datatype, weft_quantisation_t quantisation, weft_comm_t comm,
                                        weft_request_t* request);

/* ---- Collectives of uneven blocks ----
 *
 * A buffer of blocks is followed by its counts (elements of each rank's block, also 0) and offsets (where they begin in
 * the buffer, in elements), one for each rank; offsets may be NULL: the blocks lie one behind the other. Blocks of
 * recvbuff must not overlap. Arrays that a rank does not use may be NULL: at all but the root. In place, the own block
 * lies where the other buffer has it; all_to_all_v is in place where recvbuff == sendbuff and both have equal counts
 * and offsets. All else as above; INVALID_ARGUMENT also: counts is null, blocks overlap or end beyond 2^47 bytes. */

/* Rank r's recvcounts[r] elements to its block of recvbuff on all ranks. All ranks give equal recvcounts, a MISMATCH
 * otherwise. */
weft_status_t weft_all_gather_v(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                const size_t* recvoffsets, weft_data_type_t datatype, weft_comm_t comm,
                                weft_request_t* request);

/* op over all ranks of their blocks r to rank r's recvbuff, of sendcounts[r] elements. All ranks give equal sendcounts,
 * a MISMATCH otherwise. */
weft_status_t weft_reduce_scatter_v(const void* sendbuff, const size_t* sendcounts, const size_t* sendoffsets,
                                    void* recvbuff, weft_data_type_t datatype, weft_reduce_op_t op, weft_comm_t comm,
                                    weft_request_t* request);

/* Block r of sendbuff to rank r, for every r; what rank r sends lands in block r of recvbuff. This rank's sendcounts[r]
 * is rank r's recvcounts[this rank], a MISMATCH otherwise. `bound`: what all ranks agree that no block is longer than,
 * by which the algorithm is chosen; 0 if they do not know; equal on all ranks. */
weft_status_t weft_all_to_all_v(const void* sendbuff, const size_t* sendcounts, const size_t* sendoffsets,
                                void* recvbuff, const size_t* recvcounts, const size_t* recvoffsets, size_t bound,
                                weft_data_type_t datatype, weft_comm_t comm, weft_request_t* request);

/* Rank r's sendcount elements to block r of the root's recvbuff, which has recvcounts[r]. The root's own sendcount is
 * not read: it is recvcounts[root]. */
weft_status_t weft_gather_v(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                            const size_t* recvoffsets, weft_data_type_t datatype, int root, weft_comm_t comm,
                            weft_request_t* request);

/* Block r of the root's sendbuff to rank r's recvbuff, of recvcount elements. The root's own recvcount is not read: it
 * is sendcounts[root]. */
weft_status_t weft_scatter_v(const void* sendbuff, const size_t* sendcounts, const size_t* sendoffsets, void* recvbuff,
                             size_t recvcount, weft_data_type_t datatype, int root, weft_comm_t comm,
                             weft_request_t* request);

/* ---- Messages between two ranks ----
 *
 * Not collective: no other rank takes part. A receive takes the first message that matches it: of rank `peer` and with
 * `tag`, or any. Messages from one rank to another that match the same receive are taken in the order in which they
 * were sent. A send may end before its receive has begun, but no program may rely on it. Long messages and many that
 * wait are sent once their receive is there. A message that fails alone, because it does not fit or its own time is
 * over, leaves the communicator as it was. docs/point-to-point.md is a guide. */

#define WEFT_ANY_SOURCE (-1)
#define WEFT_ANY_TAG (-1)

/* What a receive got: from whom, with which tag, and how many elements of the receive's datatype. */
typedef struct weft_received {
  size_t count;
  int source;
  int tag;
} weft_received_t;

/* count elements to rank `peer`, which may be this one. INVALID_ARGUMENT: comm, sendbuff, count, datatype, peer, tag
 * (from 0); or a blocking send to oneself that no receive waits for and that is too long to be kept. Other errors as
 * for collectives. */
weft_status_t weft_send(const void* sendbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                        weft_comm_t comm, weft_request_t* request);

/* Up to count elements from rank `peer` or WEFT_ANY_SOURCE, with `tag` or WEFT_ANY_TAG. *received (may be NULL) is
 * written when the receive has succeeded: before this function returns, or, with a request, before the function that
 * ends the request does, and in a group before weft_group_end() does; until then it must stay where it is.
 * INVALID_ARGUMENT besides as for weft_send(): the message has more than count elements or no whole number of them; it
 * is then still there, to be received with another buffer. */
weft_status_t weft_recv(void* recvbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                        weft_received_t* received, weft_comm_t comm, weft_request_t* request);

#define WEFT_MESSAGE_OPTIONS_VERSION 1

/* How one message waits. Start with WEFT_MESSAGE_OPTIONS_INITIALIZER. Structures of other versions are taken as with
 * weft_options_t. */
typedef struct weft_message_options {
  size_t size;        /* sizeof(weft_message_options_t) */
  uint32_t version;   /* WEFT_MESSAGE_OPTIONS_VERSION */
  int32_t timeout_ms; /* how long to wait for the peer to take part: 0 or more, or WEFT_UNTIL_DEADLINE */
} weft_message_options_t;

#define WEFT_MESSAGE_OPTIONS_INITIALIZER \
  { sizeof(weft_message_options_t), WEFT_MESSAGE_OPTIONS_VERSION, WEFT_UNTIL_DEADLINE }

/* weft_send() and weft_recv() with options, which are read during the call; NULL gives the defaults. If nothing has
 * matched within options->timeout_ms, counted from the call, the message is withdrawn as if it had not been started:
 * the outcome is TIMEOUT, the buffers are the caller's again, and the communicator goes on (weft_comm_get_async_error()
 * tells of no error). What has begun to move is finished. With a request that is found out by weft_wait() for it, in a
 * group by weft_group_end(), and by the helper thread once there is a weft_comm_get_event_fd(); not by weft_test().
 * INVALID_ARGUMENT besides: options. */
weft_status_t weft_send_with(const void* sendbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                             const weft_message_options_t* options, weft_comm_t comm, weft_request_t* request);
weft_status_t weft_recv_with(void* recvbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                             weft_received_t* received, const weft_message_options_t* options, weft_comm_t comm,
                             weft_request_t* request);

/* Between these two, messages and collectives of this thread that are called with a NULL request are started, on any of
 * its communicators, and weft_group_end() waits for all of them: sends and receives of a group cannot wait for each
 * other, in whatever order they are called. Groups may contain groups; the outermost ends them. A call that fails is no
 * part of the group. weft_group_end() gives the first failure, in the order of the calls, after all have ended; buffers
 * are theirs until then. INVALID_ARGUMENT: weft_group_end() without weft_group_start(). */
weft_status_t weft_group_start(void);
weft_status_t weft_group_end(void);

/* ---- Objects: bytes whose number only their sender knows ---- */

/* What was received, in memory of the library's that is the receiver's to read and write until it frees it. `data` is
 * NULL where bytes is 0. */
typedef struct weft_object {
  void* data;
  size_t bytes;
  void* owner; /* the library's */
} weft_object_t;

/* Ends an object, which becomes {NULL, 0, NULL}; one that is so already, or NULL, is left alone. Every object that was
 * received is to be freed, once: a copy of the structure is the same object. Any thread, also when the communicator
 * that it came by has ended. */
void weft_object_free(weft_object_t* object);

/* These block, also in a group, and write *object, or all of objects[], on success only, whatever was there before.
 * Called by one thread of a communicator at a time. */

/* A message of any length, which was sent by weft_send() of so many WEFT_UINT8, or of anything else. Matches as
 * weft_recv() does; *received (may be NULL) counts bytes; options (may be NULL) as for weft_recv_with().
 * INVALID_ARGUMENT: object is null, comm, peer, tag, options. RESOURCE_EXHAUSTED: no memory for the message, which is
 * still there to be received. */
weft_status_t weft_recv_object(weft_object_t* object, int peer, int tag, weft_received_t* received,
                               const weft_message_options_t* options, weft_comm_t comm);

/* Collective: the root's `bytes` bytes of `data` to all others' *object. At the root `object` is not used, elsewhere
 * `data` and `bytes` are not; they may be NULL and 0. INVALID_ARGUMENT: comm, root, data or object is null.
 * RESOURCE_EXHAUSTED ends the communicator on all ranks: one has no memory for the object. */
weft_status_t weft_broadcast_object(const void* data, size_t bytes, weft_object_t* object, int root, weft_comm_t comm);

/* Collective: every rank's `bytes` bytes of `data`, in objects[r] for rank r, also the own; `objects` has a place for
 * each rank. Ranks may give different numbers of bytes. INVALID_ARGUMENT: comm, data or objects is null.
 * RESOURCE_EXHAUSTED as above. */
weft_status_t weft_all_gather_objects(const void* data, size_t bytes, weft_object_t* objects, weft_comm_t comm);

#ifdef __cplusplus
}
#endif
#undef WEFT_ENUM_TYPE

#endif
