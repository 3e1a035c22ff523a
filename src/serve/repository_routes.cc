#include "serve/repository_routes.h"

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/http.h"
#include "serve/answers.h"
#include "serve/model_keeper.h"
#include "serve/route.h"
#include "wire/v2_repository.h"

namespace corelane::serve {

void serve_repository(const net::RequestView& request, const RouteView& route, ModelKeeper& keeper,
                      net::Exchange exchange) {
  // Shared, since what is called later must be copyable; answered once, by one thread.
  const auto waiting = std::make_shared<net::Exchange>(std::move(exchange));
  const auto done = [waiting](const Result<std::string>& json) {
    if (!json) {
      answer_error(*waiting, json.error());
    } else if (json->empty()) {
      answer_text(*waiting, 200, "", "");
    } else {
      answer_json(*waiting, *json);
    }
  };
  if (route.resource == Resource::kIndex) {
    const auto only_ready = wire::parse_index_request(request.body);
    return only_ready ? keeper.index(*only_ready, done) : done(only_ready.error());
  }
  const bool load = route.resource == Resource::kLoad;
  const Status body =
      load ? wire::parse_load_request(request.body) : wire::parse_unload_request(request.body);
  if (!body) return done(body.error());
  if (load) {
    keeper.load(std::string(route.model), done);
  } else {
    keeper.unload(std::string(route.model), done);
  }
}

}  // namespace corelane::serve
