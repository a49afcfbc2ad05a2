/* quota.h - internal. Processor time and memory that control groups leave this process. */
#ifndef LKS_BASE_QUOTA_H
#define LKS_BASE_QUOTA_H

/* In cores: the least quota of the control groups (version 1 or 2) mounted at `sys` that the file `self` names; 0: none. */
double lks__cgroup_cores(const char *sys, const char *self);
/* The same for memory, in bytes. */
double lks__cgroup_memory(const char *sys, const char *self);

#endif
