// The lookups of where_found's program and libraries, each made from inside itself.
#include <dlfcn.h>
#include <stddef.h>

#ifdef WHO // in a library: a function that the others have too
const char *who(void) { return WHO; }
#endif

// Looks `name` up from here: 'n' next, 'd' default, 'N' and 'D' the same by dlvsym with `version`.
#ifndef WHO
static
#endif
void *look_up(char how, const char *name, const char *version)
{
    // Not returned directly: a tail call would have the caller of this function as its caller.
    void *volatile found = NULL;
    switch (how) {
    case 'n': found = dlsym(RTLD_NEXT, name); break;
    case 'd': found = dlsym(RTLD_DEFAULT, name); break;
    case 'N': found = dlvsym(RTLD_NEXT, name, version); break;
    default: found = dlvsym(RTLD_DEFAULT, name, version);
    }
    return found;
}
