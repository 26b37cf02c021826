// EXPECT_ERROR(statement, Type, "part", …): throws Type, and the message holds each part.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "trace/error.h"

namespace ebb::testing {

template <typename Type, typename Statement>
void expect_error(Statement statement, std::initializer_list<std::string> parts) {
  try {
    statement();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Type& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "\"" << part << "\" is not in: " << error.what();
  }
}

}  // namespace ebb::testing

#define EXPECT_INPUT_ERROR(statement, ...) \
  ebb::testing::expect_error<ebb::InputError>([&] { (void)(statement); }, {__VA_ARGS__})
#define EXPECT_SYSTEM_ERROR(statement, ...) \
  ebb::testing::expect_error<ebb::SystemError>([&] { (void)(statement); }, {__VA_ARGS__})
