#include "trace/json_records.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "trace/error.h"

namespace ebb {
namespace {

using nlohmann::json;
using Kind = JsonField::Kind;

constexpr int kDeepest = 16;
constexpr double kLargestTime = 0x1p60;  // 36 years

// Follows the parser. Depth counts the open brackets: at 1 stand the file's members, at 2 the elements of a
// list or the fields of a member that is an object, at 3 the fields of a listed record.
class RecordReader : public nlohmann::json_sax<json> {
 public:
  RecordReader(const std::string& file, const std::function<bool(const JsonRecord&)>& on_record)
      : file_(file), on_record_(on_record) {}

  bool null() override { return value(Kind::null); }
  bool boolean(bool is_true) override { return value(Kind::boolean, is_true ? 1 : 0); }
  bool number_integer(std::int64_t number) override {
    return value(Kind::integer, number, static_cast<double>(number));
  }
  bool number_unsigned(std::uint64_t number) override {
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return value(Kind::real, 0, static_cast<double>(number));
    return number_integer(static_cast<std::int64_t>(number));
  }
  bool number_float(double number, const std::string&) override { return value(Kind::real, 0, number); }
  bool string(std::string& text) override {
    if (in_record() && depth_ == record_depth_) field_->text.swap(text);
    return value(Kind::text);
  }
  bool binary(json::binary_t&) override { return value(Kind::other); }

  bool start_object(std::size_t) override {
    if (depth_ == 1 || (depth_ == 2 && in_list_)) {
      if (depth_ == 2) expect_objects(true);
      record_depth_ = depth_ + 1;
      field_count_ = 0;
    } else {
      note_nested();
    }
    return open();
  }
  bool end_object() override {
    --depth_;
    if (!in_record() || depth_ != record_depth_ - 1) return true;
    record_depth_ = 0;
    return on_record_(JsonRecord(fields_, field_count_, file_, member_, in_list_ ? next_++ : -1));
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) fail("the top level is not a JSON object");
    if (depth_ == 1) in_list_ = true;
    if (depth_ == 2 && in_list_) expect_objects(false);
    if (in_record() && depth_ == record_depth_) {
      field_->kind = Kind::ids;
      field_->ids.clear();
    } else {
      note_nested();
    }
    return open();
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool key(std::string& name) override {
    if (depth_ == 1) begin_member(name);
    if (in_record() && depth_ == record_depth_) {
      if (field_count_ == fields_.size()) fields_.emplace_back();
      field_ = &fields_[field_count_++];
      field_->key.swap(name);
    }
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    throw InputError(fmt::format("{}: not readable as JSON: {}", file_, error.what()));
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(fmt::format("{}: {}", file_, problem));
  }
  bool in_record() const { return record_depth_ > 0; }

  bool open() {
    if (++depth_ > kDeepest) fail(fmt::format("JSON nested deeper than {} levels", kDeepest));
    return true;
  }

  void begin_member(const std::string& name) {
    if (!members_.insert(name).second) fail(fmt::format("\"{}\" is given twice", name));
    member_ = name;
    next_ = 0;
    others_ = 0;
    in_list_ = false;
  }

  void expect_objects(bool is_object) {
    if (!is_object) ++others_;
    if (others_ > 0 && (is_object || next_ > 0))
      fail(fmt::format("{}[{}] is {}an object, unlike those before it", member_,
                       static_cast<std::size_t>(next_) + others_ - (is_object ? 0 : 1),
                       is_object ? "" : "not "));
  }

  // A bracket inside a record: the field it belongs to is neither a value nor a list of ids.
  void note_nested() {
    if (in_record()) field_->kind = Kind::other;
  }

  bool value(Kind kind, std::int64_t integer = 0, double real = 0) {
    if (depth_ == 0) fail("the top level is not a JSON object");
    if (depth_ == 2 && in_list_) expect_objects(false);
    if (!in_record()) return true;
    if (depth_ == record_depth_) {
      field_->kind = kind;
      field_->integer = integer;
      field_->real = real;
    } else if (field_->kind == Kind::ids) {
      const bool is_id =
          kind == Kind::integer && integer >= 0 && integer <= std::numeric_limits<BlockId>::max();
      if (is_id)
        field_->ids.push_back(static_cast<BlockId>(integer));
      else
        field_->kind = Kind::other;
    }
    return true;
  }

  const std::string& file_;
  const std::function<bool(const JsonRecord&)>& on_record_;
  int depth_ = 0;
  int record_depth_ = 0;  // of the fields of the record being read; 0 outside
  std::set<std::string> members_;
  std::string member_;
  bool in_list_ = false;
  std::ptrdiff_t next_ = 0;
  std::size_t others_ = 0;
  std::vector<JsonField> fields_;  // kept from record to record for their memory
  std::size_t field_count_ = 0;
  JsonField* field_ = nullptr;
};

}  // namespace

void JsonRecord::fail(const std::string& problem) const {
  if (index_ < 0) throw InputError(fmt::format("{}: {}: {}", file_, member_, problem));
  throw InputError(fmt::format("{}: {}[{}]: {}", file_, member_, index_, problem));
}

const JsonField* JsonRecord::find(std::string_view field) const {
  for (std::size_t i = field_count_; i-- > 0;)
    if (fields_[i].key == field) return fields_[i].kind == Kind::null ? nullptr : &fields_[i];
  return nullptr;
}

const JsonField& JsonRecord::expect(std::string_view field) const {
  const JsonField* found = find(field);
  if (!found) fail(fmt::format("\"{}\" is missing", field));
  return *found;
}

bool JsonRecord::has(std::string_view field) const { return find(field) != nullptr; }

std::int64_t JsonRecord::integer(std::string_view field, std::int64_t least, std::int64_t most) const {
  const JsonField& value = expect(field);
  if (value.kind == Kind::real)
    fail(fmt::format("\"{}\" is {}, outside the whole numbers {} … {}", field, value.real, least, most));
  if (value.kind != Kind::integer) fail(fmt::format("\"{}\" is not a whole number", field));
  if (value.integer < least || value.integer > most)
    fail(fmt::format("\"{}\" is {}, outside {} … {}", field, value.integer, least, most));
  return value.integer;
}

Bytes JsonRecord::bytes(std::string_view field) const { return integer(field, 0, Bytes{1} << 60); }

Nanoseconds JsonRecord::time(std::string_view field, double unit) const {
  const JsonField& value = expect(field);
  if (value.kind != Kind::integer && value.kind != Kind::real)
    fail(fmt::format("\"{}\" is not a number", field));
  const double nanoseconds = value.real * unit;
  if (!std::isfinite(nanoseconds) || nanoseconds < 0 || nanoseconds > kLargestTime)
    fail(fmt::format("\"{}\" is not a possible time: {}", field, value.real));
  return std::llround(nanoseconds);
}

bool JsonRecord::flag(std::string_view field) const {
  const JsonField* value = find(field);
  if (!value) return false;
  return value->kind == Kind::boolean ? value->integer == 1 : integer(field, 0, 1) == 1;
}

const std::string& JsonRecord::text(std::string_view field) const {
  const JsonField& value = expect(field);
  if (value.kind != Kind::text) fail(fmt::format("\"{}\" is not a string", field));
  return value.text;
}

const std::vector<BlockId>& JsonRecord::ids(std::string_view field) const {
  static const std::vector<BlockId> none;
  const JsonField* value = find(field);
  if (!value) return none;
  if (value->kind != Kind::ids) fail(fmt::format("\"{}\" is not a list of ids", field));
  return value->ids;
}

void read_json_records(std::string_view text, const std::string& file,
                       const std::function<bool(const JsonRecord&)>& on_record) {
  RecordReader reader(file, on_record);
  json::sax_parse(text, &reader);
}

}  // namespace ebb
