#include "trace/json_records.h"

#include <gtest/gtest.h>

#include "trace/expect_error.h"

namespace ebb {
namespace {

std::vector<std::string> places(std::string_view text) {
  std::vector<std::string> seen;
  read_json_records(text, "f", [&](const JsonRecord& record) {
    seen.push_back(std::string(record.member()) + std::to_string(record.index()));
    return true;
  });
  return seen;
}

void read_all(std::string_view text) { places(text); }

TEST(JsonRecords, AreDeliveredWithTheirPlace) {
  const std::vector<std::string> expected = {"meta-1", "ops0", "ops1", "blocks0"};
  EXPECT_EQ(
      places(R"({"meta":{"a":{"b":1}},"n":7,"skip":[3,[4,{}]],"ops":[{"x":[1]},{"y":{}}],"blocks":[{}]})"),
      expected);
}

TEST(JsonRecords, StopWhenToldTo) {
  int count = 0;
  read_json_records(R"({"ops":[{},{},{}], this is never read)", "f",
                    [&](const JsonRecord&) { return ++count < 2; });
  EXPECT_EQ(count, 2);
}

TEST(JsonRecords, NameTheFileOfMalformedText) {
  for (const char* text : {"", "{", R"({"ops":[{})", R"({"ops":[{]})", R"({"ops" 3})", "{\"a\":\"\xff\"}",
                           R"({"a":NaN})", R"({"a":1e999})", R"({"a":1} x)"})
    EXPECT_INPUT_ERROR(read_all(text), "f: not readable as JSON");
}

TEST(JsonRecords, RefuseAnotherTopLevel) {
  for (const char* text : {"[]", "3", "null", "\"x\""})
    EXPECT_INPUT_ERROR(read_all(text), "f", "not a JSON object");
}

TEST(JsonRecords, RefuseDeepNesting) {
  EXPECT_INPUT_ERROR(read_all("{\"ops\":" + std::string(1'000'000, '[')), "f", "nested deeper");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_INPUT_ERROR(read_all(objects), "f", "nested deeper");
}

TEST(JsonRecords, RefuseAListGivenTwice) {
  EXPECT_INPUT_ERROR(read_all(R"({"ops":[{}],"ops":[{}]})"), "f", "\"ops\" is given twice");
}

TEST(JsonRecords, RefuseAListOfObjectsAndOthers) {
  EXPECT_INPUT_ERROR(read_all(R"({"ops":[{},{},3]})"), "f: ops[2] is not an object");
  EXPECT_INPUT_ERROR(read_all(R"({"ops":[{},[]]})"), "f: ops[1] is not an object");
  EXPECT_INPUT_ERROR(read_all(R"({"ops":[null,{}]})"), "f: ops[1] is an object");
}

TEST(JsonRecord, TakesTheLastOfAFieldGivenTwice) {
  read_json_records(R"({"ops":[{"b":1,"r":[7,8],"b":2}]})", "f", [](const JsonRecord& record) {
    EXPECT_EQ(record.bytes("b"), 2);
    EXPECT_EQ(record.ids("r"), (std::vector<BlockId>{7, 8}));
    return true;
  });
}

TEST(JsonRecord, NamesPlaceAndFieldOfABadValue) {
  const auto read = [](const std::string& object, auto getter) {
    read_json_records("{\"ops\":[{}," + object + "]}", "f", [&](const JsonRecord& record) {
      if (record.index() == 1) getter(record);
      return true;
    });
  };
  const auto bytes = [](const JsonRecord& r) { r.bytes("b"); };
  const auto time = [](const JsonRecord& r) { r.time("us", 1000); };
  const auto ids = [](const JsonRecord& r) { r.ids("r"); };
  EXPECT_INPUT_ERROR(read(R"({})", bytes), "f: ops[1]", "\"b\" is missing");
  for (const char* value :
       {"-1", "1.5", "\"x\"", "[]", "9223372036854775807", "18446744073709551615", "1e30"})
    EXPECT_INPUT_ERROR(read(std::string(R"({"b":)") + value + "}", bytes), "f: ops[1]", "\"b\"");
  for (const char* value : {"-0.5", "\"NaN\"", "1e300", "{}"})
    EXPECT_INPUT_ERROR(read(std::string(R"({"us":)") + value + "}", time), "f: ops[1]", "\"us\"");
  for (const char* value : {"3", "[-1]", "[1.5]", "[null]", "[4294967296]", "[[]]"})
    EXPECT_INPUT_ERROR(read(std::string(R"({"r":)") + value + "}", ids), "f: ops[1]", "\"r\"");
}

}  // namespace
}  // namespace ebb
