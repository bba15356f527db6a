// The second library of where_found.
// shared
#define WHO "second"
#include "who.h"
