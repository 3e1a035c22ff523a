#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/plan.h"
#include "bench/session.h"
#include "model/manifest.h"

namespace corelane::bench {

/// Asks the plan's server for the models that the plan names.
Result<std::vector<model::Manifest>> fetch_models(const Plan& plan);

/// Sessions with the plan's server, which runs already: each client has a connection.
Result<std::unique_ptr<SessionOpener>> open_server(const Plan& plan,
                                                   std::vector<model::Manifest> manifests);

/// "127.0.0.1", "localhost", "::1": the server shares this machine with the load generator.
bool is_loopback(std::string_view host);

}  // namespace corelane::bench
