#include "cli/system/core_dumps.h"

#include "base/error.h"

#include <sys/resource.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace orfebre::cli {

void forbid_core_dumps() {
  const rlimit nothing{0, 0};
  bool is_done = setrlimit(RLIMIT_CORE, &nothing) == 0;
#ifdef __linux__
  // The limit does not count where the system pipes cores to a program; this does.
  is_done = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && is_done;
#endif
  if (!is_done) {
    fail(ErrorKind::kInternal,
         "the system does not let this program forbid core files, which would hold conversations; "
         "--allow-core-dumps starts it all the same");
  }
}

}  // namespace orfebre::cli
