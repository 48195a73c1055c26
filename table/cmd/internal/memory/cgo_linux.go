//go:build cgo

package memory

/*
#define _GNU_SOURCE
#include <features.h>

#ifdef __GLIBC__
#include <malloc.h>
#include <pthread.h>

// The C library reserves 64 MiB of addresses for each thread that frees memory, and 8 MiB for its stack. With ten
// threads that is most of what ulimit -v may allow. sst calls no C: only package net brings it in.
__attribute__((constructor)) static void reserve_little(void) {
	pthread_attr_t small;
	mallopt(M_ARENA_MAX, 1);
	if (pthread_attr_init(&small) == 0) {
		pthread_attr_setstacksize(&small, 256 << 10);
		pthread_setattr_default_np(&small);
	}
}
#endif
*/
import "C"
