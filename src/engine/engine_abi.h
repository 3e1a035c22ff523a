/* The boundary between corelane and an engine plug-in. C, so that a plug-in needs this header and
 * its own framework and nothing else of corelane. docs/formats/engine-abi.md describes it for
 * authors of plug-ins.
 *
 * A plug-in is a shared library that exports `const cl_engine* corelane_engine(void)`. The table
 * and everything it points to live as long as the library is loaded. No function throws; none
 * writes to stdout.
 *
 * Threads: load, infer and unload of different models may run at the same time on different
 * threads; infer of one model is called by one thread at a time. last_error is about the calling
 * thread's last failed call.
 */
#ifndef CORELANE_ENGINE_ABI_H_
#define CORELANE_ENGINE_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a structure changes in a way that an old plug-in would misread. The host refuses
 * another number. */
#define CL_ENGINE_ABI_VERSION 1

#define CL_MAX_RANK 8

/* cl_tensor.dtype: the numbers of corelane::tensor::DType (1 BOOL, 2..5 UINT8..64, 6..9 INT8..64,
 * 10 FP16, 11 FP32, 12 FP64, 13 BYTES, 14 BF16). */

typedef enum cl_status {
  CL_OK = 0,
  CL_INVALID_ARGUMENT = 1, /* this input breaks a rule of the model; another may be fine */
  CL_UNSUPPORTED = 2, /* this artifact, precision or device is not for this engine or machine */
  CL_OUT_OF_MEMORY = 3,
  CL_NOT_FOUND = 4, /* no such file */
  CL_FAILED = 5     /* anything else */
} cl_status;

/* A dense, row-major tensor in host memory. */
typedef struct cl_tensor {
  uint32_t dtype;
  uint32_t rank; /* <= CL_MAX_RANK */
  int64_t dims[CL_MAX_RANK];
  void* data;     /* inputs: aligned to 64 bytes, read-only, the host's, valid during infer.
                     May be NULL where bytes is 0 */
  uint64_t bytes; /* BYTES elements: uint32 little-endian length and that many bytes, repeated */
} cl_tensor;

typedef struct cl_load_options {
  uint32_t struct_size;       /* sizeof(cl_load_options) of the host */
  int32_t threads;            /* compute threads of this model: the lane's cores. >= 1 */
  const char* artifact;       /* path of the artifact, absolute */
  const char* precision;      /* the manifest's name of it: "f32", "bf16", "int8" */
  const char* device;         /* "cpu", "cuda:0", "neuron:0" */
  const char* const* inputs;  /* names in the order in which infer gets them */
  const char* const* outputs; /* names in the order in which infer must fill them */
  uint32_t input_count;
  uint32_t output_count;
  const char* options; /* JSON object: the manifest's [precision.X.options], "{}" if none */
} cl_load_options;

typedef struct cl_model cl_model;

typedef struct cl_engine {
  uint32_t abi_version; /* CL_ENGINE_ABI_VERSION */
  uint32_t struct_size; /* sizeof(cl_engine) of the plug-in */
  const char* name;     /* "openvino" */
  const char* version;  /* of the framework: "2026.4.1" */

  /* On CL_OK *model is the caller's, who gives it back with unload. */
  cl_status (*load)(const cl_load_options* options, cl_model** model);

  /* What was really loaded, as a JSON object: {"device": "cpu", "precision": {"f32": 312, ...},
   * "threads": 2, "memory_bytes": 440000000, ...}; "precision" counts operators. Never NULL. The
   * text is valid until the next call with this model. */
  const char* (*describe)(cl_model* model);

  /* Runs the model once. `inputs` holds input_count tensors. The engine fills all output_count
   * entries of `outputs`; their data is the engine's and valid until the next infer or unload of
   * this model. */
  cl_status (*infer)(cl_model* model, const cl_tensor* inputs, cl_tensor* outputs);

  void (*unload)(cl_model* model);

  /* Why this thread's last call failed, one line; "" if none did. Valid until this thread's next
   * call. */
  const char* (*last_error)(void);
} cl_engine;

/* The one symbol that a plug-in exports: define this. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const cl_engine*
corelane_engine(void);

/* For the host: the name to look up and its type. */
#define CL_ENGINE_ENTRY "corelane_engine"
typedef const cl_engine* (*cl_engine_entry)(void);

#ifdef __cplusplus
}
#endif

#endif /* CORELANE_ENGINE_ABI_H_ */
