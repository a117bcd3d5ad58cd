// What the kernels for the CPU are compiled for.

#pragma once

// A CLONED function is there for several kinds of processors, each with vectors as wide
// as theirs: the one for the processor at hand is chosen when the library is loaded. What
// it calls in its loops should be INLINE, to be compiled along with it, and nothing may
// throw: gcc lets no exception through. With other compilers, and on other systems, there
// is one, for any processor of the kind.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    defined(__x86_64__) && defined(__gnu_linux__)
#include <features.h>  // defines __GLIBC__: others can't choose
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
