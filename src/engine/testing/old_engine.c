/* A plug-in of another version of the boundary, and proof that the boundary's header is C. */
#include "engine/engine_abi.h"

static const cl_engine kTable = {
    .abi_version = 999, .struct_size = sizeof(cl_engine), .name = "old"};

const cl_engine* corelane_engine(void) { return &kTable; }
