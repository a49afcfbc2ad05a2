/* program.h - internal to backend/cpu. A fused elementwise group as a program over registers of one block. */
#ifndef LKS_BACKEND_CPU_PROGRAM_H
#define LKS_BACKEND_CPU_PROGRAM_H

#include "plan.h"

enum { EW_MAX_INPUTS = 64, EW_MAX_STEPS = 64, EW_MAX_DIMS = LKS_MAX_RANK + 1 };

/* Where a register's elements are while a block runs. */
typedef enum ew_place {
    EW_BUFFER, /* scratch buffer `number` */
    EW_INPUT,  /* the memory of input `number` at the block's position */
    EW_BYTES,  /* the same, of one byte each */
    EW_OUTPUT  /* the memory of output `number` */
} ew_place;

typedef struct ew_register {
    ew_place place;
    int number;
} ew_register;

typedef enum ew_load_kind {
    EW_LOAD_DIRECT,   /* 4-byte elements of the full space: read in place */
    EW_LOAD_BYTES,    /* uint8 or bool of the full space: widened to int32, or read in place by steps that take bytes */
    EW_LOAD_CONSTANT, /* the same for every block: filled once a run */
    EW_LOAD_GATHER    /* any broadcast: filled for every block */
} ew_load_kind;

typedef struct ew_load {
    ew_load_kind kind;
    int input, reg;
    int period; /* of a constant load */
    bool bytes; /* elements of 1 byte */
    int n_dims; /* collapsed iteration space, outermost (rows) first */
    int64_t dim[EW_MAX_DIMS], stride[EW_MAX_DIMS];
} ew_load;

typedef struct ew_step {
    int code, dst, a, b, c;
} ew_step;

typedef struct ew_store { /* a result kept in a buffer until the end of the block */
    int reg, output;
    bool bytes;
} ew_store;

typedef struct ew_sum { /* a batch_sum over all but the channels of a row, of whole examples; order: op_batch_sum.c */
    int reg, output;
    int64_t channels, row; /* elements of a position, and of an example */
    size_t offset;         /* of one example's sum, in floats of scratch */
} ew_sum;

struct ew_program {
    int n_loads, n_steps, n_stores, n_sums, n_registers, n_buffers;
    ew_load *loads;
    ew_step *steps;
    ew_store *stores;
    ew_sum *sums;
    ew_register *registers;
    bool *input_bytes, *output_bytes; /* 1-byte elements */
    int n_inputs, n_outputs;
    int period; /* least common multiple of the periods of constant loads */
    int block;  /* elements, a multiple of period */
};

/* program_merge.c: steps that only feed the next one join it; zero: registers that hold nothing but +0. */
void lks__ew_program_merge(ew_program *p, const bool *zero);

#endif
