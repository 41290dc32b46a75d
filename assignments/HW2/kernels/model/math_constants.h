// Stands in for CUDA's header of this name.

#pragma once

#include <math.h>

#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_MAX_NORMAL_F 3.402823466e38f
#define CUDART_MIN_DENORM_F 1.4e-45f
#define CUDART_PI_F 3.141592654f
#define CUDART_INF ((double)INFINITY)
#define CUDART_NAN ((double)NAN)
