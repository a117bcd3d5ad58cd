#include "emulated_cuda.h"
#include "rows.h"
#include "embed.cu"

LAUNCHER(gather_sum)
LAUNCHER(sum_runs)
LAUNCHER(join_runs)
