// Target processors of the CPU kernels.

#pragma once

// A CLONED function is compiled for several vector widths, of which one is chosen when the
// library is loaded. Functions called in its loops should be INLINE, and must not throw,
// since gcc's clones do not propagate exceptions. Other compilers and systems have a single
// version, for the baseline processor.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    defined(__x86_64__) && defined(__gnu_linux__)
#include <features.h>  // __GLIBC__: other libraries lack ifunc
#ifdef __GLIBC__
#define CLONED \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static
#endif
#endif
#ifndef CLONED
#define CLONED static
#endif

#ifdef _MSC_VER
#define INLINE __forceinline
#define PREFETCH(address)
#else
#define INLINE inline __attribute__((always_inline))
#define PREFETCH(address) __builtin_prefetch(address)
#endif
