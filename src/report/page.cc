#include "report/page.h"

#include "trace/error.h"

#ifdef EBB_REPORT_PAGE
// The bytes of the built page, without a detour through the compiler.
asm(".section .rodata\n"
    ".global ebb_report_page_begin\n"
    ".global ebb_report_page_end\n"
    "ebb_report_page_begin:\n"
    ".incbin \"" EBB_REPORT_PAGE
    "\"\n"
    "ebb_report_page_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const char ebb_report_page_begin[];
extern "C" const char ebb_report_page_end[];
#endif

namespace ebb::report {
namespace {

constexpr std::string_view kPlace = "\"ebb-report-data\"";

std::string_view page() {
#ifdef EBB_REPORT_PAGE
  return {ebb_report_page_begin, static_cast<std::size_t>(ebb_report_page_end - ebb_report_page_begin)};
#else
  return {};
#endif
}

}  // namespace

bool page_is_built() { return !page().empty(); }

std::string escape_for_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else if (c == '>')
      text += "\\u003e";
    else if (c == '&')
      text += "\\u0026";
    else
      text += c;
  }
  return text;
}

void require_page() {
  if (!page_is_built())
    throw InputError(
        "the report page is not part of this build: it is made with npm, which was not there; install nodejs "
        "and npm, then configure and build again");
}

std::string render_page(std::string_view json) {
  require_page();
  const std::string_view whole = page();
  const std::size_t place = whole.find(kPlace);
  if (place == std::string_view::npos) throw InputError("the report page has no place for data");
  std::string text(whole.substr(0, place));
  text += escape_for_script(json);
  text += whole.substr(place + kPlace.size());
  return text;
}

}  // namespace ebb::report
