# The page of evener report as a header with two texts, page_begin and page_end: page.html with its style and scripts, before and behind
# the place of the records. Run as cmake -D FROM= -D OUT= -D VERSION= -P page.cmake.

cmake_policy(VERSION 3.18)
file(READ "${FROM}/page.html" page)
file(READ "${FROM}/page.css" style)
set(script "")
foreach(name kit records figures timeline tables main)
    file(READ "${FROM}/page_${name}.js" text)
    string(APPEND script "${text}")
endforeach()
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(REPLACE "\\" "\\\\" page "${page}")
string(REPLACE "\"" "\\\"" page "${page}")
string(REPLACE "\n" "\\n\"\n    \"" page "${page}")
string(REPLACE "@RECORDS@" "\";\nstatic const char page_end[] =\n    \"" page "${page}")
file(WRITE "${OUT}" "/* Made from page.html by page.cmake. */\nstatic const char page_begin[] =\n    \"${page}\";\n")
