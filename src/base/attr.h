/* Compiler hints. They never change meaning, only warnings and layout. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#if defined(__GNUC__)
#define ATTR_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define ATTR_MUST_USE __attribute__((warn_unused_result))
#define ATTR_PUBLIC __attribute__((visibility("default")))
#define ATTR_HOT __attribute__((hot))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define ATTR_PRINTF(fmt, first)
#define ATTR_MUST_USE
#define ATTR_PUBLIC
#define ATTR_HOT
#define LIKELY(x) (x)
#define UNLIKELY(x) (x)
#define PREFETCH(p) ((void)(p))
#endif

/* Under the address sanitizer gcc puts arrays of 64-byte vectors on places of
 * 32 bytes and then faults. For kernels whose callers check the bounds. */
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define ATTR_PLAIN_STACK __attribute__((no_sanitize_address))
#else
#define ATTR_PLAIN_STACK
#endif

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
