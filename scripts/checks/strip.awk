# strip.awk - C source without comments, and with empty string and character literals; line numbers stay.
# Preprocessor #include lines are kept whole. Used by the checks that search code for words.
BEGIN { state = "code" }
FNR == 1 { state = "code" }
state == "code" && /^[ \t]*#[ \t]*include/ { print; next }
{
    out = ""
    n = length($0)
    for (i = 1; i <= n; i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        if (state == "comment") {
            if (two == "*/") { state = "code"; i++; out = out " " }
        } else if (state == "string" || state == "char") {
            if (c == "\\") i++
            else if ((state == "string" && c == "\"") || (state == "char" && c == "'")) { state = "code"; out = out c }
        } else if (two == "/*") { state = "comment"; i++ }
        else if (two == "//") break
        else if (c == "\"") { state = "string"; out = out c }
        else if (c == "'") { state = "char"; out = out c }
        else out = out c
    }
    if ((state == "string" || state == "char") && substr($0, n, 1) != "\\") state = "code"
    print out
}
