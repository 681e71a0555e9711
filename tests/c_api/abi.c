/* What a program that was compiled against these headers relies on: numbers, sizes and places. A line that does not
 * compile is a break for all of them. Additions go at the end of a structure and get lines of their own. */
#include <stddef.h>
#include <stdint.h>

#include "weft/weft.h"

#define HOLDS(name, condition) typedef char holds_##name[(condition) ? 1 : -1]

/* NCCL's numbers (nccl.h, ncclDataType_t and ncclRedOp_t). */
HOLDS(int8, WEFT_INT8 == 0);
HOLDS(uint8, WEFT_UINT8 == 1);
HOLDS(int32, WEFT_INT32 == 2);
HOLDS(uint32, WEFT_UINT32 == 3);
HOLDS(int64, WEFT_INT64 == 4);
HOLDS(uint64, WEFT_UINT64 == 5);
HOLDS(float16, WEFT_FLOAT16 == 6);
HOLDS(float32, WEFT_FLOAT32 == 7);
HOLDS(float64, WEFT_FLOAT64 == 8);
HOLDS(bfloat16, WEFT_BFLOAT16 == 9);
HOLDS(float8_e4m3, WEFT_FLOAT8_E4M3 == 10);
HOLDS(float8_e5m2, WEFT_FLOAT8_E5M2 == 11);
HOLDS(sum, WEFT_SUM == 0);
HOLDS(prod, WEFT_PROD == 1);
HOLDS(max, WEFT_MAX == 2);
HOLDS(min, WEFT_MIN == 3);
HOLDS(avg, WEFT_AVG == 4);
HOLDS(nocolor, WEFT_SPLIT_NOCOLOR == -1);
HOLDS(any_source, WEFT_ANY_SOURCE == -1);
HOLDS(any_tag, WEFT_ANY_TAG == -1);

HOLDS(scalar_device, WEFT_SCALAR_DEVICE == 0);
HOLDS(scalar_host_immediate, WEFT_SCALAR_HOST_IMMEDIATE == 1);

/* Weft's own: types from 128, operators below 0. */
HOLDS(commutative, WEFT_OP_COMMUTATIVE == 1);
HOLDS(associative, WEFT_OP_ASSOCIATIVE == 2);
HOLDS(bool, WEFT_BOOL == 128);
HOLDS(bit_and, WEFT_BIT_AND == -1);
HOLDS(bit_or, WEFT_BIT_OR == -2);
HOLDS(bit_xor, WEFT_BIT_XOR == -3);

HOLDS(quantise_none, WEFT_QUANTISE_NONE == 0);
HOLDS(quantise_int8, WEFT_QUANTISE_INT8 == 1);
HOLDS(quantise_e4m3, WEFT_QUANTISE_E4M3 == 2);

HOLDS(success, WEFT_SUCCESS == 0);
HOLDS(invalid_argument, WEFT_ERROR_INVALID_ARGUMENT == 1);
HOLDS(not_found, WEFT_ERROR_NOT_FOUND == 2);
HOLDS(unsupported, WEFT_ERROR_UNSUPPORTED == 3);
HOLDS(mismatch, WEFT_ERROR_MISMATCH == 4);
HOLDS(peer_lost, WEFT_ERROR_PEER_LOST == 5);
HOLDS(timeout, WEFT_ERROR_TIMEOUT == 6);
HOLDS(aborted, WEFT_ERROR_ABORTED == 7);
HOLDS(resource_exhausted, WEFT_ERROR_RESOURCE_EXHAUSTED == 8);
HOLDS(corrupt, WEFT_ERROR_CORRUPT == 9);
HOLDS(system, WEFT_ERROR_SYSTEM == 10);
HOLDS(internal, WEFT_ERROR_INTERNAL == 11);
HOLDS(in_progress, WEFT_IN_PROGRESS == 100);
HOLDS(until_deadline, WEFT_UNTIL_DEADLINE == -1);

HOLDS(off, WEFT_OFF == -1);
HOLDS(default, WEFT_DEFAULT == 0);
HOLDS(on, WEFT_ON == 1);

HOLDS(size_of_status, sizeof(weft_status_t) == 4);
HOLDS(size_of_data_type, sizeof(weft_data_type_t) == 4);
HOLDS(size_of_reduce_op, sizeof(weft_reduce_op_t) == 4);
HOLDS(size_of_quantisation, sizeof(weft_quantisation_t) == 4);
HOLDS(size_of_switch, sizeof(weft_switch_t) == 4);
HOLDS(size_of_comm, sizeof(weft_comm_t) == sizeof(void*));
HOLDS(size_of_request, sizeof(weft_request_t) == sizeof(void*));
HOLDS(size_of_received, sizeof(weft_received_t) == sizeof(size_t) + 2 * sizeof(int));
HOLDS(received_source, offsetof(weft_received_t, source) == sizeof(size_t));
HOLDS(received_tag, offsetof(weft_received_t, tag) == sizeof(size_t) + sizeof(int));
HOLDS(size_of_id, sizeof(weft_unique_id_t) == 512);
HOLDS(size_of_size, sizeof(size_t) == 8);

/* Of version 1. */
HOLDS(options_version, WEFT_OPTIONS_VERSION == 1);
HOLDS(size_of_options, sizeof(weft_options_t) == 96);
HOLDS(options_size, offsetof(weft_options_t, size) == 0);
HOLDS(options_version_at, offsetof(weft_options_t, version) == 8);
HOLDS(options_timeout_ms, offsetof(weft_options_t, timeout_ms) == 12);
HOLDS(options_channels, offsetof(weft_options_t, channels) == 16);
HOLDS(options_progress_thread, offsetof(weft_options_t, progress_thread) == 20);
HOLDS(options_transports, offsetof(weft_options_t, transports) == 24);
HOLDS(options_algorithms, offsetof(weft_options_t, algorithms) == 32);
HOLDS(options_topology_file, offsetof(weft_options_t, topology_file) == 40);
HOLDS(options_network_interface, offsetof(weft_options_t, network_interface) == 48);
HOLDS(options_host_id, offsetof(weft_options_t, host_id) == 56);
HOLDS(options_log_level, offsetof(weft_options_t, log_level) == 64);
HOLDS(options_numerics, offsetof(weft_options_t, numerics) == 72);
HOLDS(options_table_file, offsetof(weft_options_t, table_file) == 80);
HOLDS(options_schedule_files, offsetof(weft_options_t, schedule_files) == 88);

/* Of version 1. */
HOLDS(message_options_version, WEFT_MESSAGE_OPTIONS_VERSION == 1);
HOLDS(size_of_message_options, sizeof(weft_message_options_t) == 16);
HOLDS(message_options_size, offsetof(weft_message_options_t, size) == 0);
HOLDS(message_options_version_at, offsetof(weft_message_options_t, version) == 8);
HOLDS(message_options_timeout_ms, offsetof(weft_message_options_t, timeout_ms) == 12);

HOLDS(size_of_object, sizeof(weft_object_t) == 24);
HOLDS(object_data, offsetof(weft_object_t, data) == 0);
HOLDS(object_bytes, offsetof(weft_object_t, bytes) == 8);
HOLDS(object_owner, offsetof(weft_object_t, owner) == 16);

HOLDS(size_of_cost, sizeof(weft_cost_t) == 80);
HOLDS(cost_group_bytes, offsetof(weft_cost_t, group_bytes) == 8);
HOLDS(cost_model_bytes, offsetof(weft_cost_t, model_bytes) == 40);
HOLDS(cost_lanes, offsetof(weft_cost_t, lanes) == 48);
HOLDS(cost_shared_threads, offsetof(weft_cost_t, shared_threads) == 72);

HOLDS(version_code, WEFT_VERSION(1, 2, 3) == 10203);
HOLDS(version_order, WEFT_VERSION_CODE >= WEFT_VERSION(0, 1, 0));
