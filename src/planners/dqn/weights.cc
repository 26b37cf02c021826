#include "planners/dqn/weights.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "planners/dqn/graph.h"
#include "trace/error.h"

namespace ebb::dqn {
namespace {

constexpr const char* kFormat = "ebb dqn weights 1";
constexpr int kWidest = 4096;
constexpr double kDegree = 8;  // about: a node's neighbours, whose states are summed

Eigen::MatrixXf parse_matrix(const nlohmann::json& values, int rows, int columns, std::size_t number) {
  if (!values.is_array() ||
      values.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns))
    throw InputError(fmt::format("weights: matrix {} has not {} x {} numbers", number, rows, columns));
  Eigen::MatrixXf matrix(rows, columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const nlohmann::json& value = values[static_cast<std::size_t>(r * columns + c)];
      if (!value.is_number() || !std::isfinite(value.get<float>()))
        throw InputError(fmt::format("weights: matrix {} holds something that is not a number", number));
      matrix(r, c) = value.get<float>();
    }
  return matrix;
}

}  // namespace

std::array<std::pair<int, int>, 8> Weights::shapes(int p) {
  const int features = static_cast<int>(kFeatures);
  return {{{p, features}, {p, p}, {p, p}, {p, 1}, {p, p}, {p, p}, {1, 3 * p}, {p, p}}};
}

bool Weights::operator==(const Weights& other) const {
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const Eigen::MatrixXf &a = matrices[i], &b = other.matrices[i];
    if (a.rows() != b.rows() || a.cols() != b.cols() || a != b) return false;
  }
  return true;
}

Weights Weights::random(int width, std::uint64_t seed) {
  Weights weights;
  std::mt19937_64 engine(seed);
  const auto shape = shapes(width);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto [rows, columns] = shape[i];
    const double summed = i == 1 ? kDegree : 1;
    const double reach = std::sqrt(3.0 / columns) / summed;
    weights.matrices[i].resize(rows, columns);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        const double unit = static_cast<double>(engine() >> 11) * 0x1p-53;
        weights.matrices[i](r, c) = static_cast<float>((2 * unit - 1) * reach);
      }
  }
  return weights;
}

std::string to_text(const Weights& weights) {
  nlohmann::json json = {
      {"format", kFormat}, {"width", weights.width()}, {"matrices", nlohmann::json::array()}};
  for (const Eigen::MatrixXf& matrix : weights.matrices) {
    nlohmann::json values = nlohmann::json::array();
    for (Eigen::Index r = 0; r < matrix.rows(); ++r)
      for (Eigen::Index c = 0; c < matrix.cols(); ++c) values.push_back(matrix(r, c));
    json["matrices"].push_back(std::move(values));
  }
  return json.dump() + "\n";
}

Weights parse_weights(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", "") != kFormat)
    throw InputError(fmt::format("weights: this is not a file of \"{}\"", kFormat));
  const nlohmann::json width = json.value("width", nlohmann::json());
  const nlohmann::json matrices = json.value("matrices", nlohmann::json());
  if (!width.is_number_integer() || width < 1 || width > kWidest)
    throw InputError(fmt::format("weights: a width of 1 to {} is expected", kWidest));
  const auto shape = Weights::shapes(width.get<int>());
  if (!matrices.is_array() || matrices.size() != shape.size())
    throw InputError("weights: eight matrices are expected");
  Weights weights;
  for (std::size_t i = 0; i < shape.size(); ++i)
    weights.matrices[i] = parse_matrix(matrices[i], shape[i].first, shape[i].second, i + 1);
  return weights;
}

}  // namespace ebb::dqn
