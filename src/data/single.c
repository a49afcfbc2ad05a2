/* single.c - a dataset of one element as that element. */
#include "stage.h"

static lks_status read_one(lks_iter *it, lks_element **out)
{
    lks_element *more = NULL;
    lks_status status = lks_iter_next(it, out);

    if (status == LKS_END)
        return lks__fail(LKS_E_ARG, "get_single_element: the dataset is empty, it must have one element");
    if (status != LKS_OK) return status;
    status = lks_iter_next(it, &more);
    if (status == LKS_END) return LKS_OK;
    lks_element_release(*out);
    *out = NULL;
    lks_element_release(more);
    return status != LKS_OK ? status
                            : lks__fail(LKS_E_ARG, "get_single_element: the dataset has more than one element");
}

lks_status lks_dataset_get_single_element(lks_dataset *dataset, lks_element **out)
{
    lks_element *e = NULL;
    lks_iter *it;
    lks_status status;

    if (out == NULL) return lks__fail(LKS_E_ARG, "lks_dataset_get_single_element: the output is NULL");
    LKS_TRY(lks_iter_create(dataset, &it));
    status = read_one(it, &e);
    lks_iter_release(it);
    if (status == LKS_OK) *out = e;
    return status;
}
