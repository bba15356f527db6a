// How where_found's program and libraries look names up, each from inside itself.
#include <dlfcn.h>
#include <stddef.h>

#ifdef WHO // in a library: a function that others have too
const char *who(void) { return WHO; }
#endif

// Looks `name` up from here: 'n' next, 'd' default, 'N' and 'D' the same by dlvsym with `version`.
#ifndef WHO
static
#endif
void *look_up(char how, const char *name, const char *version)
{
    // Not returned at once: a call in tail position would come from whoever called this.
    void *volatile found = NULL;
    switch (how) {
    case 'n': found = dlsym(RTLD_NEXT, name); break;
    case 'd': found = dlsym(RTLD_DEFAULT, name); break;
    case 'N': found = dlvsym(RTLD_NEXT, name, version); break;
    default: found = dlvsym(RTLD_DEFAULT, name, version);
    }
    return found;
}
