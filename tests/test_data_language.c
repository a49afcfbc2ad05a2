/* test_data_language.c - pipelines written as JSON: each word builds what its function builds, with tf.data's arguments; what is not
 * understood is said with the nearest word.
 */
#include "test_sources.h"
#include "test_texts.h"

/* Names are in the folder of the test. */
static lks_dataset *build(const char *text)
{
    return lks_dataset_from_json(text, .folder = folder);
}

#define RANGE(n) "{'op':'range','args':[" #n "]}"

/* With ' for ", so that they can be read. */
static const char *quoted(const char *text)
{
    static char out[4096];
    size_t n = strlen(text);

    assert_true(n < sizeof out);
    for (size_t i = 0; i <= n; i++) out[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    return out;
}

static void words_are_the_stages_of_tf_data(void **state)
{
    static const struct {
        const char *text, *elements;
    } cases[] = {
        { "[{'op':'range','args':[5,0,-2]}]", "5; 3; 1" },
        { "[{'op':'range','args':[2],'dtype':'float32'}]", "0; 1" },
        { "[{'op':'from_tensors','value':[[1,2],[3,4]]}]", "[[1,2],[3,4]]" },
        { "[{'op':'from_tensor_slices','value':[1,2.5]}]", "1; 2.5" },
        { "[{'op':'from_tensor_slices','value':{'array':[[1,2],[3,4]],'dtype':'uint8'}}]", "[1,2]; [3,4]" },
        { "[{'op':'from_tensor_slices','value':{'tuple':[[1,2],['a','b']]}}]", "1 a; 2 b" },
        { "[{'op':'from_tensor_slices','value':{'dict':{'z':[1,2],'a':[[3],[4]]}}}]", "[3] 1; [4] 2" },
        { "[{'op':'random','seed':3},{'op':'take','count':2},{'op':'map','f':{'fn':'mod','arg':1}}]", "0; 0" },
        { "[{'op':'map_indexed','n':4,'f':'square'}]", "0; 1; 4; 9" },
        { "[{'op':'text_lines','files':['a.csv']}]", "1,x,0.5; 2,y,; 3,z,1" },
        { "[{'op':'csv','files':'a.csv','record_defaults':['int32','string',{'default':7,'dtype':'float32'}]}]",
          "1 x 0.5; 2 y 7; 3 z 1" },
        { "[{'op':'csv','files':'a.csv','record_defaults':[{'required':'string'}],'select_cols':[1]}]", "x; y; z" },
        { "[{'op':'fixed_length','files':'a.bin','record_bytes':2,'header_bytes':1,'num_parallel_reads':2}]",
          "bc; de" },
        { "[{'op':'tfrecord','files':'a.rec'},{'op':'map','f':{'fn':'parse_example','features':"
          "{'label':'int64','x':{'kind':'ragged','dtype':'float32'},'none':{'dtype':'int64','default':3}}}}]",
          "5 3 [1.5]; 6 3 [1.5,-2]; 7 3 [1.5,-2,0.25]" },
        { "[{'op':'list_files','pattern':'a.b*','shuffle':false},{'op':'map','f':'read_file'}]", "abcde" },
        { "[{'op':'npy','path':'a.npy'}]", "1; 2; 3" },
        { "[{'op':'npz','path':'a.npz','keys':['y','x']}]", "1 1; 2 2; 3 3" },
        { "[{'op':'zip','inputs':[[" RANGE(2) "],[" RANGE(3) "]],'dict':['b','a']}]", "0 0; 1 1" },
        { "[{'op':'choose_from_datasets','inputs':[[{'op':'from_tensor_slices','value':[1,0,1]}],[" RANGE(
              3) "],["
                 "{'op':'range','args':[7,9]}]]}]",
          "7; 0; 8" },
        { "[{'op':'sample_from_datasets','inputs':[[" RANGE(2) "],[" RANGE(9) "]],'weights':[1,0],'seed':1}]", "0; 1" },
        { "[" RANGE(2) ",{'op':'concatenate','inputs':[[" RANGE(1) "],[" RANGE(2) "]]}]", "0; 1; 0; 0; 1" },
        { "[" RANGE(5) ",{'op':'batch','batch_size':2,'drop_remainder':true}]", "[0,1]; [2,3]" },
        { "[" RANGE(5) ",{'op':'batch','batch_size':4},{'op':'rebatch','batch_size':[1,3]},{'op':'unbatch'},"
                       "{'op':'skip','count':3}]",
          "3; 4" },
        { "[{'op':'from_tensor_slices','value':[3,1]},{'op':'flat_map','f':'range_of'}]", "0; 1; 2; 0" },
        { "[" RANGE(2) ",{'op':'interleave','f':{'fn':'repeated','arg':2},'cycle_length':2}]", "0; 1; 0; 1" },
        { "[" RANGE(
              5) ",{'op':'window','size':2,'drop_remainder':true},{'op':'flat_map','f':{'fn':'batch_window','arg':2}}]",
          "[0,1]; [2,3]" },
        { "[" RANGE(4) ",{'op':'scan','initial':10,'f':'running_sum'}]", "10; 11; 13; 16" },
        { "[" RANGE(
              5) ",{'op':'group_by_window','key_func':{'fn':'mod','arg':2},'reduce_func':{'fn':'batch_all','arg':9},"
                 "'window_size':2}]",
          "[0,2]; [1,3]; [4]" },
        { "[{'op':'from_tensors','value':[1,2,3]},{'op':'concatenate','inputs':[[{'op':'from_tensors','value':[4]}]]},"
          "{'op':'bucket_by_sequence_length','element_length_func':'length','bucket_boundaries':[2],"
          "'bucket_batch_sizes':[2,2]}]",
          "[[4]]; [[1,2,3]]" },
        { "[{'op':'from_tensors','value':[1,2]},{'op':'concatenate','inputs':[[{'op':'from_tensors','value':[4]}]]},"
          "{'op':'padded_batch','batch_size':2,'padded_shapes':[3],'padding_values':-1}]",
          "[[1,2,-1],[4,-1,-1]]" },
        { "[" RANGE(
              9) ",{'op':'filter','f':'is_even'},{'op':'take_while','f':{'fn':'less','arg':5}},{'op':'enumerate'}]",
          "0 0; 1 2; 2 4" },
        { "[" RANGE(4) ",{'op':'map','f':{'fn':'fail_on','arg':2}},{'op':'ignore_errors'},{'op':'shard','num_shards':2,"
                       "'index':1}]",
          "1" },
        { "[" RANGE(
              3) ",{'op':'map','f':{'fn':'mod','arg':2}},{'op':'unique'},{'op':'repeat','count':2},{'op':'cache'},"
                 "{'op':'assert_cardinality','n':4},{'op':'prefetch','buffer_size':1}]",
          "0; 1; 0; 1" },
        { "[" RANGE(6) ",{'op':'auto_shard','num_workers':3,'worker':1}]", "1; 4" },
        { "[" RANGE(10) ",{'op':'shuffle','buffer_size':10,'seed':42}]", "5; 9; 6; 4; 7; 1; 2; 8; 3; 0" },
        { "[{'op':'from_tensors','value':{'array':[[[0],[255]]],'dtype':'uint8'}},{'op':'map','f':['flip_left_right',"
          "{'fn':'rescale','scale':2}]}]",
          "[[[510],[0]]]" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = texts_of(build(quoted(cases[i].text)));
        if (strcmp(found, cases[i].elements) != 0)
            fail_msg("%s: expected '%s', found '%s'", cases[i].text, cases[i].elements, found);
    }
}

static void what_is_not_understood_is_said(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "[{'op':'tfrecords','files':'a'}]", "there is no source \"tfrecords\"; did you mean \"tfrecord\"?" },
        { "[" RANGE(3) ",{'op':'bacth','batch_size':2}]",
          "stage 2 of the pipeline: there is no stage \"bacth\"; did you mean \"batch\"?" },
        { "[" RANGE(3) ",{'op':'batch','batchsize':2}]",
          "\"batch\" has no argument \"batchsize\"; did you mean \"batch_size\"?" },
        { "[" RANGE(3) ",{'op':'unique','x':2}]", "\"unique\" has no argument \"x\"; it takes none" },
        { "[" RANGE(3) ",{'op':'batch','batch_size':'2'}]", "\"batch_size\" of \"batch\" must be a whole number" },
        { "[" RANGE(3) ",{'op':'batch','batch_size':2,'drop_remainder':1}]", "must be true or false" },
        { "[" RANGE(3) ",{'op':'map','f':'squar'}]", "no function \"squar\"; did you mean \"square\"?" },
        { "[" RANGE(3) ",{'op':'map'}]", "\"map\" needs the function \"f\"" },
        { "[" RANGE(3) ",{'op':'map','f':{'fn':'resize','heigth':3}}]", "did you mean \"height\"?" },
        { "[" RANGE(3) ",{'op':'map','f':['square','rescale']}]", "chain" },
        { "[" RANGE(3) ",{'op':'map','f':'length'}]", "component 0 must be an array" },
        { "[{'op':'from_tensors','value':[[1,2],[3]]}]", "different lengths" },
        { "[{'op':'from_tensors','value':[1,'a']}]", "text" },
        { "[{'op':'from_tensors','value':{'array':[1],'dtype':'int'}}]", "no dtype \"int\"" },
        { "[{'op':'from_tensor_slices','value':{'tuple':[[1],[1,2]]}}]", "component 1 has 2" },
        { "[{'op':'csv','files':'a.csv','record_defaults':['int']}]",
          "column 0 of \"record_defaults\": there is no dtype" },
        { "[{'op':'range'}]", "\"range\" needs \"args\"" },
        { "[{'op':'zip','inputs':[]}]", "\"inputs\" of \"zip\"" },
        { "[{'op':'zip','inputs':[[" RANGE(2) "],[" RANGE(3) "]],'dict':['b']}]", "1 names for 2 inputs" },
        { "[" RANGE(3) ",{'op':'auto_shard','policy':'ALL'}]", "must be AUTO, FILE" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lks_dataset *ds = build(quoted(cases[i].text));
        assert_true(lks_dataset_status(ds) != LKS_OK);
        if (strstr(lks_last_error(), cases[i].words) == NULL)
            fail_msg("%s: '%s' lacks '%s'", cases[i].text, lks_last_error(), cases[i].words);
        lks_dataset_release(ds);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    static const char *const text[] = {
        "[{'op':'csv','files':['a.csv'],'record_defaults':['int32','string',{'default':7,'dtype':'float32'}]}]",
        "[{'op':'from_tensor_slices','value':{'dict':{'z':[1,2],'a':[[3],[4]]}}},{'op':'map','f':['flip_left_right',"
        "{'fn':'resize','height':2,'width':2}]}]",
        "[" RANGE(
            5) ",{'op':'group_by_window','key_func':{'fn':'mod','arg':2},'reduce_func':{'fn':'batch_all','arg':9},"
               "'window_size':2}]",
    };
    lks_status status;

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        EVERY_ALLOCATION_FAILS(
            {
                lks_dataset *ds = build(quoted(text[i]));
                status = ds == NULL ? LKS_E_NOMEM : lks_dataset_status(ds);
                if (i == 1 && status == LKS_E_SHAPE) status = LKS_OK; /* no picture: the map is refused */
                lks_dataset_release(ds);
            },
            {});
}

static int write_all(void **state)
{
    static const char *const keys[] = { "x", "y" };
    const int64_t numbers[] = { 1, 2, 3 };
    lks_tensor *t[2] = { lks_tensor_from(LKS_INT64, lks_shape(3), numbers), NULL };

    if (make_folder(state) != 0) return -1;
    t[1] = lks_tensor_retain(t[0]);
    write_file("a.csv", "1,x,0.5\n2,y,\n3,z,1\n", 19);
    write_file("a.bin", "abcde", 5);
    write_samples("a.rec", NULL, 1);
    assert_status(lks_write_npy(path("a.npy"), t[0]), LKS_OK);
    assert_status(lks_write_npz(path("a.npz"), 2, keys, t), LKS_OK);
    lks_tensor_release(t[0]);
    lks_tensor_release(t[1]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_the_stages_of_tf_data),
        cmocka_unit_test(what_is_not_understood_is_said),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, write_all, remove_folder);
}
