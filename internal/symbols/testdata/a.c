#include <stdio.h>
#define MAX(a, b) \
	((a) > (b) ? (a) : (b))
#if 0
int not_here(void) { return 1; }
#endif
struct point {
	int x, y;
};
typedef struct { int a; } pair_t;
typedef int (*callback)(int);
enum color { RED, GREEN = 2 };
static const char *names[] = { "a", "b" };
int prototype(int a);
static inline struct point *
make_point(int x, int y)
{
	if (x) { return 0; }
	return 0;
}
#ifdef A
int two(int a) {
#else
int two(long a) {
#endif
	return "}"[0] + '}';
}
int old(a) int a; { return a; }

static __always_inline __alloc_size(1) void *attributed(size_t size)
{
	return no(size);
}

int split(int a)
{
	if (a
#ifdef FAST
	    && a > 1) {
#else
	    ) {
#endif
		return 1;
	}
	return 0;
}

int after_split(void) { return 0; }
