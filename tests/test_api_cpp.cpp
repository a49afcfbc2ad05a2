/* test_api_cpp.cpp - the public headers from C++17: option structs are filled by hand and given to the _with forms. */
#include <lockstep.h>

#include <cstdio>
#include <cstring>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            return 1;                                                            \
        }                                                                        \
    } while (0)

static int tensors_work_without_macros()
{
    const int64_t dims[2] = { 2, 3 };
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape_of(2, dims));

    CHECK(t != nullptr);
    CHECK(lks_tensor_size(t) == 6);
    lks_tensor_release(t);
    CHECK(std::strcmp(lks_status_name(LKS_E_NOMEM), "LKS_E_NOMEM") == 0);
    return 0;
}

int main()
{
    return tensors_work_without_macros();
}
