// Stands in for CUDA's header of this name where kernels run in the execution model.

#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmath>

#include "tg_launch.h"

#include "tg_api.h"
#include "tg_device.h"
