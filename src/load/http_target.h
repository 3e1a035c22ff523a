#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/inputs.h"
#include "load/lanes_target.h"
#include "load/target.h"
#include "model/manifest.h"
#include "net/http_client.h"

namespace corelane::load {

/// "http://127.0.0.1:8000", "http://host" (port 80), with or without a closing slash.
Result<net::HttpClientOptions> parse_http_url(std::string_view url);

/// How tensors travel: as the bytes that they are, or as numbers in JSON.
enum class TensorForm { kBinary, kJson };

/// A request that is ready to be sent again and again.
struct HttpInput {
  std::int64_t items = 1;
  net::PreparedRequest request;
};

/// v2 infer requests to `model` (and `version`, "" for the server's choice), which ask for all
/// outputs in the same form. kUnsupported: FP16 and BF16 have no numbers in the protocol's JSON.
Result<std::vector<HttpInput>> http_inputs(const std::string& model, const std::string& version,
                                           std::span<const PreparedInput> inputs, TensorForm form);

/// What a server says of a model (GET /v2/models/...), as a manifest: inputs and outputs with their
/// types; a first dimension that varies is the batch, the others that vary are named `dimension`,
/// or "<input>.<axis>" where that is empty. There are no precisions, and no
/// limits but one that is far off.
Result<model::Manifest> parse_model_metadata(std::string_view json, const std::string& dimension);

/// Asks the server.
Result<model::Manifest> fetch_model_metadata(net::HttpClient& client, const std::string& model,
                                             const std::string& version,
                                             const std::string& dimension);

/// A client of a server with a connection of its own. Borrows the inputs. Any status but 200 is a
/// failed request.
class HttpTarget final : public Target {
 public:
  HttpTarget(std::unique_ptr<net::HttpClient> client, std::span<const HttpInput> inputs,
             ClientPlace place);

  Result<Answer> send(std::uint64_t turn) override;

 private:
  std::unique_ptr<net::HttpClient> client_;
  std::span<const HttpInput> inputs_;
  ClientPlace place_;
};

}  // namespace corelane::load
