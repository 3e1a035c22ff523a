/* A plug-in in C that claims an output shape which its bytes do not have. */
#include <string.h>

#include "engine/engine_abi.h"

static float value;
static int model;

static cl_status load(const cl_load_options* options, cl_model** loaded) {
  (void)options;
  *loaded = (cl_model*)&model;
  return CL_OK;
}

static const char* describe(cl_model* loaded) {
  (void)loaded;
  return "{}";
}

static cl_status infer(cl_model* loaded, const cl_tensor* inputs, cl_tensor* outputs) {
  (void)loaded;
  (void)inputs;
  memset(outputs, 0, sizeof *outputs);
  outputs->dtype = 11;
  outputs->rank = 1;
  outputs->dims[0] = 1000;
  outputs->data = &value;
  outputs->bytes = sizeof value;
  return CL_OK;
}

static void unload(cl_model* loaded) { (void)loaded; }

static const char* last_error(void) { return ""; }

static const cl_engine kTable = {.abi_version = CL_ENGINE_ABI_VERSION,
                                 .struct_size = sizeof(cl_engine),
                                 .name = "liar",
                                 .version = "1",
                                 .load = load,
                                 .describe = describe,
                                 .infer = infer,
                                 .unload = unload,
                                 .last_error = last_error};

const cl_engine* corelane_engine(void) { return &kTable; }
