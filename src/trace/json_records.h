// JSON of the shape {"name": {…}, "list": [{…}, {…}, …]}, one record at a time, so that a million records
// need no more memory than the largest of them. Used by the importers; everyone else sees Programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "trace/quantities.h"

namespace ebb {

inline constexpr OpIndex kLastIndex = std::numeric_limits<OpIndex>::max();

// A field of a record, by what JSON it was.
struct JsonField {
  enum class Kind { null, boolean, integer, real, text, ids, other };
  std::string key;
  Kind kind = Kind::null;
  std::int64_t integer = 0;  // of a boolean too
  double real = 0;           // of an integer too
  std::string text;
  std::vector<BlockId> ids;  // a list of numbers an id can be; any other list or object is `other`
};

// One object of the file and its place, e.g. "resnet50.json.gz: ops[17]". Every getter throws InputError
// naming place and field if the value is missing, of another kind or out of range.
class JsonRecord {
 public:
  JsonRecord(const std::vector<JsonField>& fields, std::size_t field_count, std::string_view file,
             std::string_view member, std::ptrdiff_t index)
      : fields_(fields), field_count_(field_count), file_(file), member_(member), index_(index) {}

  bool has(std::string_view field) const;  // there and not null
  std::int64_t integer(std::string_view field, std::int64_t least, std::int64_t most) const;
  Bytes bytes(std::string_view field) const;
  // A time in `unit` nanoseconds, fractions allowed, rounded.
  Nanoseconds time(std::string_view field, double unit) const;
  bool flag(std::string_view field) const;  // absent is false; 0, 1, false, true
  const std::string& text(std::string_view field) const;
  const std::vector<BlockId>& ids(std::string_view field) const;  // absent is empty
  [[noreturn]] void fail(const std::string& problem) const;

  std::string_view member() const { return member_; }
  std::ptrdiff_t index() const { return index_; }  // -1 if the member is the object itself

 private:
  const JsonField* find(std::string_view field) const;
  const JsonField& expect(std::string_view field) const;

  const std::vector<JsonField>& fields_;
  std::size_t field_count_;
  std::string_view file_;
  std::string_view member_;
  std::ptrdiff_t index_;
};

// Calls `on_record` for each object in a top-level list and each top-level object until it answers false.
// Other members are skipped. Throws InputError for malformed text, too deep nesting, a member given twice and
// a list that holds objects and something else.
void read_json_records(std::string_view text, const std::string& file,
                       const std::function<bool(const JsonRecord&)>& on_record);

}  // namespace ebb
