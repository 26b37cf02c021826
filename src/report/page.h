// The page people look at: one HTML file, built from report/ and embedded here, with the data in it.
#pragma once

#include <string>
#include <string_view>

namespace ebb::report {

// False where the tool was built without npm.
bool page_is_built();

// JSON that may stand inside a <script> element whatever its strings hold.
std::string escape_for_script(std::string_view json);

// Throws InputError that says what is missing if the page was not built.
void require_page();

// The page with this data. Throws as above.
std::string render_page(std::string_view json);

}  // namespace ebb::report
