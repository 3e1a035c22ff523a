#pragma once

#include "net/http.h"
#include "serve/model_keeper.h"
#include "serve/route.h"

namespace corelane::serve {

/// Answers kIndex, kLoad and kUnload of the protocol's model_repository extension, when the keeper
/// has done what is asked. Does not block. The keeper is borrowed until the answer.
void serve_repository(const net::RequestView& request, const RouteView& route, ModelKeeper& keeper,
                      net::Exchange exchange);

}  // namespace corelane::serve
