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

static int element_functions_chain_without_macros()
{
    const int64_t dims[3] = { 2, 2, 1 };
    const lks_map_fn *functions[2] = { lks_fn_rescale(0.5, 1), lks_fn_flip_up_down() };
    lks_tensor *t = lks_tensor_create(LKS_FLOAT32, lks_shape_of(3, dims)), *out = nullptr;

    CHECK(t != nullptr);
    for (int i = 0; i < 4; i++) static_cast<float *>(lks_tensor_data(t))[i] = static_cast<float>(i);
    CHECK(lks_fn_call(lks_fn_chain_n(2, functions), t, 0, &out) == LKS_OK);
    CHECK(static_cast<const float *>(lks_tensor_cdata(out))[0] == 2.0f); /* number 2 of four, halved, plus one */
    lks_tensor_release(out);
    lks_tensor_release(t);
    return 0;
}

int main()
{
    return tensors_work_without_macros() + element_functions_chain_without_macros();
}
