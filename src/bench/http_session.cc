#include "bench/http_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/experiments.h"
#include "bench/plan.h"
#include "bench/session.h"
#include "load/http_target.h"
#include "load/inputs.h"
#include "load/lanes_target.h"
#include "load/target.h"
#include "model/manifest.h"
#include "net/http_client.h"

namespace corelane::bench {
namespace {

/// A version that the plan names, or "" for the server's choice.
std::string version_text(const Plan& plan, const std::string& model) {
  for (const ModelChoice& choice : plan.models) {
    if (choice.name == model && choice.version) return std::to_string(*choice.version);
  }
  return "";
}

/// A plan with one dimension of its own means that one by whatever varies.
std::string only_dimension(const Plan& plan) {
  std::set<std::string> names;
  for (const Grid& grid : plan.grids) {
    for (const auto& [name, sizes] : grid.dimensions) names.insert(name);
  }
  return names.size() == 1 ? *names.begin() : "";
}

std::map<std::string, std::string> server_version(net::HttpClient& client) {
  const auto response = client.exchange(net::PreparedRequest("GET", "/v2", {}, {}));
  if (!response || response->status != 200) return {};
  const auto* text = reinterpret_cast<const char*>(response->body.data());
  const auto json = nlohmann::json::parse(text, text + response->body.size(), nullptr, false);
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() ||
      !json.contains("version") || !json["version"].is_string()) {
    return {};
  }
  return {{"server", json["name"].get<std::string>() + " " + json["version"].get<std::string>()}};
}

class HttpClients final : public Clients {
 public:
  explicit HttpClients(std::vector<load::HttpInput> inputs) : inputs_(std::move(inputs)) {}

  Status connect(const net::HttpClientOptions& server, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      auto client = net::HttpClient::connect(server);
      if (!client) return in_context(std::move(client), fmt::format("connecting client {}", i + 1));
      targets_.push_back(std::make_unique<load::HttpTarget>(
          *std::move(client), inputs_, load::ClientPlace{.index = i, .count = count}));
    }
    return {};
  }

  std::vector<load::Target*> targets() override {
    std::vector<load::Target*> all;
    for (const auto& target : targets_) all.push_back(target.get());
    return all;
  }

 private:
  std::vector<load::HttpInput> inputs_;
  std::vector<std::unique_ptr<load::HttpTarget>> targets_;
};

struct Server {
  net::HttpClientOptions address;
  load::TensorForm form = load::TensorForm::kBinary;
};

class HttpSession final : public Session {
 public:
  HttpSession(Server server, model::Manifest manifest, std::string version,
              std::map<std::string, std::string> versions)
      : server_(std::move(server)),
        manifest_(std::move(manifest)),
        version_(std::move(version)),
        versions_(std::move(versions)) {}

  Result<std::unique_ptr<Clients>> clients(const PlannedExperiment& planned) override {
    auto inputs = load::make_inputs(manifest_, planned.inputs);
    if (!inputs) return std::move(inputs).error();
    auto requests = load::http_inputs(manifest_.name, version_, *inputs, server_.form);
    if (!requests) return std::move(requests).error();
    auto clients = std::make_unique<HttpClients>(*std::move(requests));
    const auto count = static_cast<std::size_t>(planned.experiment.concurrency);
    if (auto connected = clients->connect(server_.address, count); !connected) {
      return std::move(connected).error();
    }
    return std::unique_ptr<Clients>(std::move(clients));
  }

  SessionFacts facts() const override {
    return {.engine_report = {},
            .versions = versions_,
            .on_this_machine = is_loopback(server_.address.host)};
  }

 private:
  Server server_;
  model::Manifest manifest_;
  std::string version_;
  std::map<std::string, std::string> versions_;
};

class HttpOpener final : public SessionOpener {
 public:
  HttpOpener(Server server, Plan plan, std::vector<model::Manifest> manifests)
      : server_(std::move(server)), plan_(std::move(plan)), manifests_(std::move(manifests)) {}

  Result<std::unique_ptr<Session>> open(const Experiment& experiment) override {
    const auto found = std::find_if(
        manifests_.begin(), manifests_.end(),
        [&](const model::Manifest& manifest) { return manifest.name == experiment.model; });
    if (found == manifests_.end()) return not_found("the server has no model " + experiment.model);
    auto client = net::HttpClient::connect(server_.address);
    if (!client) return in_context(std::move(client), "connecting to " + experiment.target);
    return std::unique_ptr<Session>(std::make_unique<HttpSession>(
        server_, *found, version_text(plan_, experiment.model), server_version(**client)));
  }

 private:
  Server server_;
  Plan plan_;
  std::vector<model::Manifest> manifests_;
};

}  // namespace

Result<std::vector<model::Manifest>> fetch_models(const Plan& plan) {
  auto address = load::parse_http_url(plan.target);
  if (!address) return in_context(std::move(address), "[study] target");
  auto client = net::HttpClient::connect(*address);
  if (!client) return in_context(std::move(client), "connecting to " + plan.target);
  std::vector<model::Manifest> manifests;
  for (const ModelChoice& model : plan.models) {
    auto manifest = load::fetch_model_metadata(**client, model.name, version_text(plan, model.name),
                                               only_dimension(plan));
    if (!manifest) return in_context(std::move(manifest), plan.target);
    if (model.version) manifest->version = *model.version;
    manifests.push_back(*std::move(manifest));
  }
  return manifests;
}

Result<std::unique_ptr<SessionOpener>> open_server(const Plan& plan,
                                                   std::vector<model::Manifest> manifests) {
  auto address = load::parse_http_url(plan.target);
  if (!address) return in_context(std::move(address), "[study] target");
  Server server{.address = *std::move(address),
                .form = plan.json_tensors ? load::TensorForm::kJson : load::TensorForm::kBinary};
  return std::unique_ptr<SessionOpener>(
      std::make_unique<HttpOpener>(std::move(server), plan, std::move(manifests)));
}

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1";
}

}  // namespace corelane::bench
