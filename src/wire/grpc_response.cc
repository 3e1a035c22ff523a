#include "wire/grpc_response.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tensor/dtype.h"
#include "wire/json_text.h"
#include "wire/protobuf_writer.h"
#include "wire/v2_response.h"

namespace corelane::wire {
namespace {

// Fields of ModelInferResponse
constexpr std::uint32_t kModelName = 1;
constexpr std::uint32_t kModelVersion = 2;
constexpr std::uint32_t kId = 3;
constexpr std::uint32_t kParameters = 4;
constexpr std::uint32_t kOutputs = 5;
constexpr std::uint32_t kRawContents = 6;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string output_message(const ResponseOutputView& output) {
  std::string out;
  append_bytes_field(out, 1, output.name);
  append_bytes_field(out, 2, name_of(output.tensor.dtype));
  append_sizes_field(out, 3, output.tensor.shape.dims());
  return out;
}

/// {"triton_final_response": true}, an entry of the map of parameters
std::string final_mark() {
  std::string value;
  append_varint_field(value, 1, 1);
  std::string entry;
  append_bytes_field(entry, 1, "triton_final_response");
  append_bytes_field(entry, 2, value);
  return entry;
}

/// Bytes outside ASCII become question marks where the text is not UTF-8.
std::string as_utf8(std::string_view text) {
  std::string clean(text);
  if (is_utf8(clean)) return clean;
  for (char& each : clean) {
    if (static_cast<unsigned char>(each) >= 0x80) each = '?';
  }
  return clean;
}

}  // namespace

EncodedMessageView GrpcResponseWriter::write(const InferResponseView& response, GrpcAnswer answer) {
  front_.clear();
  own_.clear();
  ends_.clear();
  append_bytes_field(own_, kModelName, response.model_name);
  append_bytes_field(own_, kModelVersion, std::to_string(response.model_version));
  if (response.id) append_bytes_field(own_, kId, *response.id);
  if (answer == GrpcAnswer::kStreamLast) append_bytes_field(own_, kParameters, final_mark());
  for (const ResponseOutputView& output : response.outputs) {
    append_bytes_field(own_, kOutputs, output_message(output));
  }
  std::size_t size = 0;
  for (const ResponseOutputView& output : response.outputs) {
    append_bytes_head(own_, kRawContents, output.tensor.bytes.size());
    ends_.push_back(own_.size());
    size += output.tensor.bytes.size();
  }
  size += own_.size();
  if (answer != GrpcAnswer::kUnary) append_bytes_head(front_, 2, size);

  pieces_.assign(1, bytes_of(front_));
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    pieces_.push_back(bytes_of(std::string_view(own_).substr(begin, ends_[i] - begin)));
    pieces_.push_back(response.outputs[i].tensor.bytes);
    begin = ends_[i];
  }
  pieces_.push_back(bytes_of(std::string_view(own_).substr(begin)));
  return {.pieces = pieces_, .size = front_.size() + size};
}

EncodedMessageView GrpcResponseWriter::write_stream_error(std::string_view message,
                                                          std::string_view id) {
  own_.clear();
  append_bytes_field(own_, 1, as_utf8(message));
  std::string inner;
  if (!id.empty()) append_bytes_field(inner, kId, id);
  append_bytes_field(own_, 2, inner);
  pieces_.assign(1, bytes_of(own_));
  return {.pieces = pieces_, .size = own_.size()};
}

}  // namespace corelane::wire
