#include "cli/system/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace orfebre::cli {

void open_standard_streams() {
  int descriptor = 0;
  do {
    descriptor = open("/dev/null", O_RDWR);  // gets the lowest number that is free
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor > STDERR_FILENO) {
    close(descriptor);
  }
}

}  // namespace orfebre::cli
