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

#define PARSE(feature) \
    "[{'op':'tfrecord','files':'b.rec'},{'op':'map','f':{'fn':'parse_example','features':{'f':" feature "}}}]"

static void features_are_named_as_in_tf_io(void **state)
{
    static const struct {
        const char *text, *elements;
    } cases[] = {
        { PARSE("{'kind':'ragged','dtype':'int64','value_key':'v','partitions':[{'row_lengths':'n'}]}"),
          "[[1,2],[3,4,5,6]]" },
        { PARSE("{'kind':'ragged','dtype':'int64','value_key':'v','partitions':[{'row_splits':'s'}]}"),
          "[[1],[2,3,4,5,6]]" },
        { PARSE("{'kind':'ragged','dtype':'int64','value_key':'v','partitions':[{'row_starts':'n0'}]}"),
          "[[1,2],[3,4,5,6]]" },
        { PARSE("{'kind':'ragged','dtype':'int64','value_key':'v','partitions':[{'row_limits':'n6'}]}"),
          "[[1,2],[3,4,5,6]]" },
        { PARSE("{'kind':'ragged','dtype':'int64','value_key':'v','partitions':[{'value_rowids':'ids'}]}"),
          "[[1],[],[2,3,4,5,6]]" },
        { PARSE("{'kind':'ragged','dtype':'int64','value_key':'v','partitions':[{'uniform_row_length':3}]}"),
          "[[1,2,3],[4,5,6]]" },
        { PARSE("{'kind':'sparse','dtype':'int64','index_key':'n','value_key':'n0','size':[5]}"),
          "[5] [[2],[4]] [0,2]" },
        { PARSE("{'kind':'sparse','dtype':'int64','index_key':['n','n0'],'value_key':'n6','size':[5,3]}"),
          "[5,3] [[2,0],[4,2]] [2,6]" },
        { PARSE("{'kind':'var','dtype':'int64','value_key':'n'}"), "[2] [[0],[1]] [2,4]" },
        { PARSE("{'dtype':'int64','shape':[2],'value_key':'n'}"), "[2,4]" },
        { "[{'op':'tfrecord','files':'c.rec'},{'op':'map','f':{'fn':'parse_sequence_example','context':{'id':'int64'},"
          "'sequence':{'steps':{'kind':'ragged','dtype':'int64'},'d':{'kind':'sequence','dtype':'int64','shape':[1],"
          "'allow_missing':true}}}}]",
          "9 [] [[1],[2,3]]" },
        { "[{'op':'webdataset','files':'a.tar','fields':['txt','cls:int64'],'url':true}]", "a @ 1 x; b @ 2 y" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = texts_of(build(quoted(cases[i].text)));
        char shard[128], want[256] = "", *at;
        snprintf(shard, sizeof shard, "%s/a.tar", folder);
        for (const char *p = cases[i].elements; *p != '\0'; p++) {
            at = want + strlen(want);
            if (*p == '@') snprintf(at, sizeof want - strlen(want), "%s", shard);
            else at[0] = *p, at[1] = '\0';
        }
        if (strcmp(found, want) != 0) fail_msg("%s: expected '%s', found '%s'", cases[i].text, want, found);
    }
}

typedef struct refused_case {
    const char *text, *words; /* a pipeline, and what the error says of it */
} refused_case;

static void expect_refused(const refused_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        lks_dataset *ds = build(quoted(cases[i].text));
        assert_true(lks_dataset_status(ds) != LKS_OK);
        if (strstr(lks_last_error(), cases[i].words) == NULL)
            fail_msg("%s: '%s' lacks '%s'", cases[i].text, lks_last_error(), cases[i].words);
        lks_dataset_release(ds);
    }
}

static void a_mistake_is_told_with_its_stage_once(void **state)
{
    static const refused_case cases[] = {
        { "[" RANGE(3) ",{'op':'batch','batch_size':2},{'op':'map','f':{'fn':'cast','dtype':'flaot32'}}]",
          "map (stage 3): \"cast\": there is no dtype \"flaot32\"; did you mean \"float32\"?" },
        { "[" RANGE(3) ",{'op':'map','f':{'fn':'cast','dtyp':'int32'}}]",
          "map (stage 2): \"cast\" has no argument \"dtyp\"; did you mean \"dtype\"?" },
        { "[" RANGE(3) ",{'op':'filter','f':'evn'}]", "filter (stage 2): there is no function \"evn\"" },
        { "[" RANGE(3) ",{'op':'take'}]", "take (stage 2): \"take\" needs" },
        { "[{'op':'zip','inputs':[[" RANGE(2) "],[" RANGE(3) ",{'op':'map','f':'qqqqqq'}]]}]",
          "map (stage 2): there is no function \"qqqqqq\"; there are: add, adjust_brightness," },
        { "[" RANGE(3) ",{'op':'map','f':{'fn':'resize','height':3,'width':0}}]",
          "map (stage 2): resize takes sizes of 1 to 1048576, found 3 x 0" },
        { "[" RANGE(3) ",{'op':'map','f':{'fn':'one_hot','depth':0}}]", "map (stage 2): " },
        { "[{'op':'map','f':'double'}]", "\"map\" is a stage, and a pipeline begins with a source" },
        { "[" RANGE(3) "," RANGE(3) "]", "\"range\" is a source, which only begins a pipeline" },
        { "[{'op':'image_dataset_from_directory','directory':'.','image_size':[0,160]}]",
          "the pictures' height must be at least 1, found 0" },
        { "[{'op':'image_dataset_from_directory','directory':'.','width':-3}]",
          "the pictures' width must be at least 1, found -3" },
    };

    (void)state;
    expect_refused(cases, sizeof cases / sizeof *cases);
}

static void what_is_not_understood_is_said(void **state)
{
    static const refused_case cases[] = {
        { "[{'op':'tfrecords','files':'a'}]", "there is no source \"tfrecords\"; did you mean \"tfrecord\"?" },
        { "[" RANGE(3) ",{'op':'bacth','batch_size':2}]",
          "stage 2 of the pipeline: there is no stage \"bacth\"; did you mean \"batch\"?" },
        { "[" RANGE(3) ",{'op':'batch','batchsize':2}]",
          "\"batch\" has no argument \"batchsize\"; did you mean \"batch_size\"?" },
        { "[" RANGE(3) ",{'op':'take'}]", "\"take\" needs \"count\"" },
        { "[" RANGE(3) ",{'op':'shuffle','seed':1}]", "\"shuffle\" needs \"buffer_size\"" },
        { "[" RANGE(3) ",{'op':'shard','num_shards':2,'index':null}]", "\"shard\" needs \"index\"" },
        { "[" RANGE(3) ",{'op':'unique','x':2}]", "\"unique\" has no argument \"x\"; it takes none" },
        { "[" RANGE(3) ",{'op':'prefetch','depth':2}]",
          "\"prefetch\" has no argument \"depth\"; it takes buffer_size" },
        { "[{'op':'range','stop':3}]", "\"range\" has no argument \"stop\"; it takes args, dtype" },
        { "[" RANGE(3) ",{'op':5}]", "stage 2 of the pipeline has no \"op\"" },
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
        { "[{'op':'range','args':[1,2,3,4]}]", "1 to 3 whole numbers, found 4" },
        { "[{'op':'csv','files':'a.csv','record_defaults':['int32'],'field_delim':'::'}]",
          "must be one byte, found \"::\"" },
        { "[{'op':'csv','files':'a.csv','record_defaults':[{'requierd':'int32'}]}]", "did you mean \"required\"?" },
        { "[{'op':'from_tensors','value':{'array':[300],'dtype':'uint8'}}]", "the number 300 is no uint8" },
        { "[{'op':'from_tensors','value':{'array':[0.5],'dtype':'int32'}}]", "the number 0.5 is no int32" },
        { "[{'op':'from_tensors','value':{'array':[1],'dtpye':'int32'}}]", "did you mean \"dtype\"?" },
        { "[{'op':'from_tensors','value':{'array':[],'shape':[2]}}]", "no size of \"shape\" is 0" },
        { "[" RANGE(3) ",{'op':'map','f':'double','num_parallel_calls':0}]",
          "at least 1 or LKS_AUTOTUNE (-1), found 0" },
        { "[" RANGE(3) ",{'op':'batch','batch_size':2,'num_parallel_calls':-2}]", "(-1), found -2" },
        { "[{'op':'text_lines','files':'a.csv','num_parallel_reads':0}]", "num_parallel_reads must be at least 1" },
        { "[" RANGE(3) ",{'op':'enumerate'},{'op':'map','f':'double'}]", "the elements have 2 components" },
        { "[" RANGE(3) ",{'op':'rebatch','batch_size':[1.5]}]", "a whole number or a list" },
        { "[{'op':'from_tensors','value':[1,2]},{'op':'padded_batch','batch_size':1,'padded_shapes':['x']}]",
          "a whole number or null" },
        { "[{'op':'from_tensors','value':[1,2]},{'op':'padded_batch','batch_size':1,'padding_values':0.5}]",
          "0.5 is no int64" },
        { PARSE("{'kind':'rugged','dtype':'int64'}"), "feature 'f': \"kind\" must be fixed, var, ragged" },
        { PARSE("{'kind':'ragged','dtype':'int64','partitions':[{'row_length':'n'}]}"),
          "did you mean \"row_lengths\"?" },
        { PARSE("{'kind':'ragged','dtype':'int64','partitions':[{'uniform_row_length':'n'}]}"),
          "must be a whole number" },
        { PARSE("{'kind':'ragged','dtype':'int64','partitions':['n']}"), "an object like" },
        { PARSE("{'dtype':'int64','shap':[2]}"), "did you mean \"shape\"?" },
        { PARSE("7"), "a feature is a dtype or an object" },
        { "[{'op':'tfrecord','files':'c.rec'},{'op':'map','f':'parse_sequence_example'}]",
          "needs \"context\" or \"sequence\"" },
    };

    (void)state;
    expect_refused(cases, sizeof cases / sizeof *cases);
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

static void write_one(const char *name, lks_example *e)
{
    lks_record_writer *w = NULL;

    assert_status(lks_record_writer_open(&w, path(name)), LKS_OK);
    assert_status(lks_record_writer_write_example(w, e), LKS_OK);
    assert_status(lks_record_writer_close(w), LKS_OK);
    lks_example_clear(e);
}

/* Values with what cuts them into rows, a SequenceExample, two samples of a shard. */
static void write_composite(void)
{
    static const int64_t v[] = { 1, 2, 3, 4, 5, 6 }, lengths[] = { 2, 4 }, starts[] = { 0, 2 }, limits[] = { 2, 6 },
                         splits[] = { 0, 1, 6 }, rows[] = { 0, 2, 2, 2, 2, 2 }, id = 9;
    lks_example *e = lks_example_create();
    static archive a;

    assert_status(lks_example_set_int64(e, "v", 6, v), LKS_OK);
    assert_status(lks_example_set_int64(e, "n", 2, lengths), LKS_OK);
    assert_status(lks_example_set_int64(e, "n0", 2, starts), LKS_OK);
    assert_status(lks_example_set_int64(e, "n6", 2, limits), LKS_OK);
    assert_status(lks_example_set_int64(e, "s", 3, splits), LKS_OK);
    assert_status(lks_example_set_int64(e, "ids", 6, rows), LKS_OK);
    write_one("b.rec", e);
    assert_status(lks_example_set_int64(e, "id", 1, &id), LKS_OK);
    assert_status(lks_example_add_int64(e, "steps", 1, v), LKS_OK);
    assert_status(lks_example_add_int64(e, "steps", 2, v + 1), LKS_OK);
    write_one("c.rec", e);
    lks_example_release(e);
    add_text(&a, "a.txt", "x");
    add_text(&a, "a.cls", "1");
    add_text(&a, "b.cls", "2");
    add_text(&a, "b.txt", "y");
    write_archive(&a, "a.tar");
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
    write_composite();
    assert_status(lks_write_npy(path("a.npy"), t[0]), LKS_OK);
    assert_status(lks_write_npz(path("a.npz"), 2, keys, t), LKS_OK);
    lks_tensor_release(t[0]);
    lks_tensor_release(t[1]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_the_stages_of_tf_data),       cmocka_unit_test(features_are_named_as_in_tf_io),
        cmocka_unit_test(a_mistake_is_told_with_its_stage_once), cmocka_unit_test(what_is_not_understood_is_said),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, write_all, remove_folder);
}
