// The first library of where_found.
// shared
#define WHO "first"
#include "who.h"
