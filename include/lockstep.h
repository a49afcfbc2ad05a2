/* lockstep.h - the whole public interface of Lockstep; each header below can also be included alone. */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include "lockstep/status.h"
#include "lockstep/tensor.h"

#endif
