#include "emulated_cuda.h"
#include "rows.h"
#include "embed.cu"

LAUNCHER(gather_sum_float)
LAUNCHER(gather_sum_float4)
LAUNCHER(sum_runs_float)
LAUNCHER(sum_runs_float4)
LAUNCHER(join_runs_float)
LAUNCHER(join_runs_float4)
LAUNCHER(scatter_atomically_float)
LAUNCHER(scatter_atomically_float4)
