// GET /openapi.json: what this server answers, for programs that read such descriptions.
#include "server/routes/handlers.h"
#include "server/routes/info/openapi.h"

namespace orfebre {

void handle_openapi(const RouteCall& call) {
  call.send(std::string(openapi_document()));
}

}  // namespace orfebre
