/* classes.c - all metric classes. Most are a loss's values, averaged. */
#include "values.h"

static const char *const dtypes[] = { "float32", NULL };

#define HEAD(text)                                                                           \
    { "name", LKS_FIELD_TEXT, offsetof(lks_metric_config, loss.name), text, 0, NULL, 0 },    \
    {                                                                                        \
        "dtype", LKS_FIELD_TEXT, offsetof(lks_metric_config, dtype), "float32", 0, dtypes, 0 \
    }
#define LOSS_ROW(key, KIND, fallback, flags)                                                    \
    {                                                                                           \
#key, LKS_FIELD_##KIND, offsetof(lks_metric_config, loss.key), fallback, flags, NULL, 0 \
    }
#define ROW(key, KIND, fallback, flags) LKS_FIELD(lks_metric_config, key, KIND, fallback, flags)

/* A metric without options of its own: word = its string and the default name. */
#define PLAIN(word, Name, traits, loss, sign, values, ...)                                                  \
    static const char *const word##_names[] = { __VA_ARGS__, NULL };                                        \
    static const lks_field word##_fields[] = { HEAD(#word), LKS_FIELDS_END };                               \
    static const lks_metric_class metric_##word = {                                                         \
        { Name, #word, word##_names, sizeof(lks_metric_config), word##_fields }, traits, loss, sign, values \
    };
#define OF_LOSS(word, Name, ...) PLAIN(word, Name, 0, &lks__loss_##word, 1, NULL, __VA_ARGS__)

PLAIN(mean, "Mean", LKS_METRIC_VALUES, NULL, 1, NULL, "Mean")
PLAIN(sum, "Sum", LKS_METRIC_VALUES | LKS_METRIC_SUM, NULL, 1, NULL, "Sum")
PLAIN(accuracy, "Accuracy", 0, NULL, 1, lks__values_accuracy, "Accuracy")
PLAIN(categorical_accuracy, "CategoricalAccuracy", 0, NULL, 1, lks__values_categorical_accuracy, "CategoricalAccuracy")
PLAIN(sparse_categorical_accuracy, "SparseCategoricalAccuracy", 0, NULL, 1, lks__values_sparse_categorical_accuracy,
      "SparseCategoricalAccuracy")
PLAIN(root_mean_squared_error, "RootMeanSquaredError", LKS_METRIC_ROOT, NULL, 1, lks__values_squared_error, "rmse")
OF_LOSS(mean_squared_error, "MeanSquaredError", "mse")
OF_LOSS(mean_absolute_error, "MeanAbsoluteError", "mae")
OF_LOSS(mean_absolute_percentage_error, "MeanAbsolutePercentageError", "mape")
OF_LOSS(mean_squared_logarithmic_error, "MeanSquaredLogarithmicError", "msle")
OF_LOSS(poisson, "Poisson", "Poisson")
OF_LOSS(kl_divergence, "KLDivergence", "KLDivergence")
OF_LOSS(hinge, "Hinge", "Hinge")
OF_LOSS(squared_hinge, "SquaredHinge", "SquaredHinge")
OF_LOSS(categorical_hinge, "CategoricalHinge", "CategoricalHinge")

#define CLASS(word, Name, names, traits, loss, sign, values)                                         \
    static const lks_metric_class metric_##word = {                                                  \
        { Name, #word, names, sizeof(lks_metric_config), word##_fields }, traits, loss, sign, values \
    };
#define LOGITS LOSS_ROW(from_logits, BOOL, "false", 0)
#define SMOOTHING LOSS_ROW(label_smoothing, FLOAT, "0", LKS_FIELD_FRACTION)
#define AXIS LOSS_ROW(axis, INT, "-1", 0)
#define HIDDEN_AXIS LOSS_ROW(axis, INT, "-1", LKS_FIELD_CHANGED)
#define THRESHOLD ROW(threshold, FLOAT, "0.5", 0)
#define TOP ROW(k, INT, "5", LKS_FIELD_POSITIVE)

static const lks_field log_cosh_error_fields[] = { HEAD("logcosh"), LKS_FIELDS_END };
CLASS(log_cosh_error, "LogCoshError", NULL, 0, &lks__loss_log_cosh, 1, NULL)
static const lks_field cosine_similarity_fields[] = { HEAD("cosine_similarity"), HIDDEN_AXIS, LKS_FIELDS_END };
CLASS(cosine_similarity, "CosineSimilarity", NULL, 0, &lks__loss_cosine_similarity, -1, NULL)
static const char *const bce_names[] = { "bce", NULL };
static const lks_field binary_crossentropy_fields[] = { HEAD("binary_crossentropy"), LOGITS, SMOOTHING, HIDDEN_AXIS,
                                                        LKS_FIELDS_END };
CLASS(binary_crossentropy, "BinaryCrossentropy", bce_names, 0, &lks__loss_binary_crossentropy, 1, NULL)
static const lks_field categorical_crossentropy_fields[] = { HEAD("categorical_crossentropy"), LOGITS, SMOOTHING, AXIS,
                                                             LKS_FIELDS_END };
CLASS(categorical_crossentropy, "CategoricalCrossentropy", NULL, 0, &lks__loss_categorical_crossentropy, 1, NULL)
static const lks_field sparse_categorical_crossentropy_fields[] = { HEAD("sparse_categorical_crossentropy"), LOGITS,
                                                                    LOSS_ROW(ignore_class, INT, "none", 0), AXIS,
                                                                    LKS_FIELDS_END };
CLASS(sparse_categorical_crossentropy, "SparseCategoricalCrossentropy", NULL, 0,
      &lks__loss_sparse_categorical_crossentropy, 1, NULL)
static const lks_field binary_accuracy_fields[] = { HEAD("binary_accuracy"), THRESHOLD, LKS_FIELDS_END };
CLASS(binary_accuracy, "BinaryAccuracy", NULL, 0, NULL, 1, lks__values_binary_accuracy)
static const lks_field top_k_categorical_accuracy_fields[] = { HEAD("top_k_categorical_accuracy"), TOP,
                                                               LKS_FIELDS_END };
CLASS(top_k_categorical_accuracy, "TopKCategoricalAccuracy", NULL, 0, NULL, 1, lks__values_top_k)
static const lks_field sparse_top_k_categorical_accuracy_fields[] = { HEAD("sparse_top_k_categorical_accuracy"), TOP,
                                                                      LKS_FIELDS_END };
CLASS(sparse_top_k_categorical_accuracy, "SparseTopKCategoricalAccuracy", NULL, 0, NULL, 1, lks__values_sparse_top_k)

/* A function of a loss, averaged; what it may be given besides is what losses take. */
static const lks_field mean_metric_wrapper_fields[] = { HEAD("mean_metric_wrapper"),
                                                        ROW(fn, SPEC, NULL, 0),
                                                        LOSS_ROW(delta, FLOAT, "1", LKS_FIELD_CHANGED),
                                                        LOSS_ROW(from_logits, BOOL, "false", LKS_FIELD_CHANGED),
                                                        LOSS_ROW(label_smoothing, FLOAT, "0", LKS_FIELD_CHANGED),
                                                        LOSS_ROW(axis, INT, "-1", LKS_FIELD_CHANGED),
                                                        LOSS_ROW(ignore_class, INT, "none", LKS_FIELD_CHANGED),
                                                        LKS_FIELDS_END };
CLASS(mean_metric_wrapper, "MeanMetricWrapper", NULL, 0, NULL, 1, NULL)

#define ENTRY(word) &metric_##word.config
static const lks_config_class *const list[] = { ENTRY(mean),
                                                ENTRY(sum),
                                                ENTRY(accuracy),
                                                ENTRY(binary_accuracy),
                                                ENTRY(categorical_accuracy),
                                                ENTRY(sparse_categorical_accuracy),
                                                ENTRY(top_k_categorical_accuracy),
                                                ENTRY(sparse_top_k_categorical_accuracy),
                                                ENTRY(mean_squared_error),
                                                ENTRY(root_mean_squared_error),
                                                ENTRY(mean_absolute_error),
                                                ENTRY(mean_absolute_percentage_error),
                                                ENTRY(mean_squared_logarithmic_error),
                                                ENTRY(log_cosh_error),
                                                ENTRY(cosine_similarity),
                                                ENTRY(poisson),
                                                ENTRY(kl_divergence),
                                                ENTRY(binary_crossentropy),
                                                ENTRY(categorical_crossentropy),
                                                ENTRY(sparse_categorical_crossentropy),
                                                ENTRY(hinge),
                                                ENTRY(squared_hinge),
                                                ENTRY(categorical_hinge),
                                                ENTRY(mean_metric_wrapper),
                                                NULL };
const lks_config_family lks__metric_family = { "metric", "keras.metrics", list };

static const char *const acc_names[] = { "acc", NULL };
static const lks_field acc_fields[] = { HEAD("accuracy"), THRESHOLD, LKS_FIELDS_END };
static const lks_metric_class acc = { { "accuracy", "accuracy", acc_names, sizeof(lks_metric_config), acc_fields },
                                      LKS_METRIC_SHAPES,
                                      NULL,
                                      1,
                                      lks__values_accuracy_by_shape };
static const char *const ce_names[] = { "ce", NULL };
static const lks_field ce_fields[] = {
    HEAD("crossentropy"), LOGITS, SMOOTHING, HIDDEN_AXIS, LOSS_ROW(ignore_class, INT, "none", LKS_FIELD_UNWRITTEN),
    LKS_FIELDS_END
};
static const lks_metric_class ce = { { "crossentropy", "crossentropy", ce_names, sizeof(lks_metric_config), ce_fields },
                                     LKS_METRIC_SHAPES,
                                     &lks__loss_crossentropy,
                                     1,
                                     NULL };
const lks_config_class *const lks__metric_shorthands[] = { &acc.config, &ce.config, NULL };
