# Manual pages of the library's functions, from its headers: a page for each comment with the
# functions that follow it up to an empty line, named after the first of them; the others refer to
# it. usage: awk -v folder=OUT -v version=VERSION -f man-pages.awk HEADER ..

# What groff takes as its own.
function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/) text = "\\&" text
    return text
}

# The function's name in a declaration; "": it declares none.
function name_of(text) {
    if (text ~ /^(typedef|static|extern|#|struct|enum|EVN_DEVICE_FUNCTION)/) return ""
    if (!match(text, /evn_[a-z0-9_]+\(/)) return ""
    return substr(text, RSTART, RLENGTH - 1)
}

function end_page(   i, n, file, text) {
    if (functions) {
        file = folder "/" name[1] ".3"
        text = comment
        sub(/[.:;](\n| |$).*/, "", text)
        gsub(/\n+/, " ", text)
        if (text == "") text = "of <evener/" header ">"
        printf ".TH %s 3 \"\" \"Evener %s\" \"Library Functions\"\n.SH NAME\n", toupper(name[1]), version > file
        for (i = 1; i <= functions; i++) printf "%s%s", plain(name[i]), i < functions ? ", " : "" > file
        printf " \\- %s\n.SH SYNOPSIS\n.nf\n.B #include <evener/%s>\n.PP\n", plain(tolower(substr(text, 1, 1)) substr(text, 2)), header > file
        for (i = 1; i <= functions; i++) {
            n = split(declaration[i], line, "\n")
            for (text = 1; text <= n; text++) print plain(line[text]) > file
        }
        print ".fi\n.SH DESCRIPTION" > file
        n = split(comment, line, "\n")
        for (i = 1; i <= n; i++) print line[i] == "" ? ".PP" : plain(line[i]) > file
        for (i = 1; i <= functions; i++)
            if (beside[i] != "") print ".PP\n" plain(name[i]) "(): " plain(beside[i]) > file
        print ".SH SEE ALSO\n.BR evener (3)" > file
        close(file)
        for (i = 2; i <= functions; i++) {
            print ".so man3/" name[1] ".3" > (folder "/" name[i] ".3")
            close(folder "/" name[i] ".3")
        }
    }
    functions = 0
    comment = statement = note = ""
}

FNR == 1 {
    end_page()
    header = FILENAME
    sub(/.*\//, "", header)
}

/^\/\*/ { end_page(); within = 1; sub(/^\/\* ?/, "") }

within {
    done = sub(/ *\*\/.*/, "")
    sub(/^ \* ?/, "")
    comment = comment (comment == "" ? "" : "\n") $0
    if (done) within = 0
    next
}

# a comment beside a declaration, of one line or several
within_beside || /;[ ]*\/\*/ {
    text = $0
    if (!within_beside) {
        sub(/.*;[ ]*\/\*/, "", text)
        sub(/[ ]*\/\*.*/, "")
    }
    done = sub(/\*\/.*/, "", text)
    gsub(/^ +| +$/, "", text)
    note = note (note == "" ? "" : " ") text
    if (within_beside) {
        if (done) { beside[functions] = note; note = "" }
        within_beside = !done
        next
    }
    within_beside = !done
}

/^$/ { end_page(); next }

{ statement = statement (statement == "" ? "" : "\n") $0 }

/;$/ {
    if (name_of(statement) != "" && statement !~ /[{}]/) {
        name[++functions] = name_of(statement)
        declaration[functions] = statement
        beside[functions] = ""
        if (!within_beside && note != "") { beside[functions] = note; note = "" }
    } else if (!within_beside) note = ""
    statement = ""
}

END { end_page() }
