#!/bin/sh
# Include arrows between the folders of src/ point only downwards, and the command and the examples use the public
# headers alone. The table is the picture in docs/ARCHITECTURE.md.
set -eu
cd "$(dirname "$0")/../.."

status=0
for file in $(git ls-files --cached --others --exclude-standard 'src/*.c' 'src/*.h'); do
    awk -v file="$file" '
        function allow(folder, list,    n, a, i) { n = split(list, a, " "); for (i = 1; i <= n; i++) ok[folder, a[i]] = 1 }
        function headers(folder, list,    n, a, i) { n = split(list, a, " "); for (i = 1; i <= n; i++) home[a[i]] = folder }
        BEGIN {
            graph_users = "layers losses metrics optimizers initializers schedules callbacks"
            core = "base tensor ops graph"
            allow("base", "base")
            allow("tensor", "base tensor")
            allow("ops", "base tensor ops")
            allow("graph", core)
            allow("kernels", "base tensor ops kernels")
            allow("backend", core " kernels backend")
            allow("strategy", core " backend strategy")
            allow("files", "base tensor files")
            allow("data", "base tensor files data")
            n = split(graph_users, g, " ")
            for (i = 1; i <= n; i++) allow(g[i], core " " graph_users)
            all = core " backend strategy files data " graph_users " model"
            allow("model", all)
            allow("supervise", all " supervise")
            allow("applications", all " applications")
            # Public headers belong to a folder too: the one with their name (dataset*: data), or this one.
            headers("base", "status options")
            headers("data", "element records sources mnist image_functions image_folder")
            headers("files", "image plot")
            headers("ops", "ops node")
            headers("layers", "layer")
            headers("backend", "tensor_ops")
            headers("model", "train eager")
            split(file, part, "/"); from = part[2]
        }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            path = $0; sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
            if (path ~ /^\.\.?\//) { bad(path, "is relative; write it from src/"); next }
            k = split(path, p, "/")
            if (k == 1) { if (path == "lockstep.h") bad(path, "is for users of the library"); next }
            to = p[1]
            if (to == "lockstep") { to = p[2]; sub(/\.h$/, "", to); if (to ~ /^dataset/) to = "data"; else if (to in home) to = home[to] }
            if (!((from, "base") in ok)) bad(path, "comes from src/" from ", a folder that this check does not know")
            else if (!((from, to) in ok)) bad(path, "points upwards or sideways (" from " -> " to ")")
        }
        function bad(path, why) { printf "%s:%d: include of \"%s\" %s\n", file, FNR, path, why; failed = 1 }
        END { exit failed }' "$file" || status=1
done
for file in $(git ls-files --cached --others --exclude-standard 'cli/*.c' 'cli/*.h' 'examples/*.c' 'examples/*.cpp'); do
    awk -v file="$file" '
        /^[ \t]*#[ \t]*include[ \t]*["<]/ {
            path = $0; quote = (path ~ /"/); sub(/^[^"<]*["<]/, "", path); sub(/[">].*/, "", path)
            if (quote && path ~ /\// && path !~ /^lockstep\//) bad = 1; else bad = 0
            if (path ~ /^(base|tensor|ops|graph|kernels|backend|strategy|files|data|model|layers)\//) bad = 1
            if (path ~ /^(jansson|hdf5|zip|zlib|curl\/curl)\.h$/) bad = 1
            if (bad) { printf "%s:%d: includes \"%s\"; only <lockstep.h> and the C library are for users\n", file, FNR, path; failed = 1 }
        }
        END { exit failed }' "$file" || status=1
done
exit $status
