/* test_data_errors.c - failing elements below, above and inside every stage, and arguments that no stage can
 * have. Where the two differ on purpose, docs/tf-data.md says why.
 */
#include "test_data_errors.h"

static const error_case cases[] = {
    /* map */
    { "[{'op':'range','args':[3]},{'op':'map','f':'double','num_parallel_calls':0}]", "build !ARG",
      "num_parallel_calls must be at least 1 or LKS_AUTOTUNE (-1), found 0", NULL },
    { "[{'op':'range','args':[3]},{'op':'map','f':'double','num_parallel_calls':-2}]", "build !ARG",
      "num_parallel_calls must be at least 1 or LKS_AUTOTUNE (-1), found -2", NULL },
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':2},'num_parallel_calls':3}]",
      "0; 1; !ARG; 3; 4; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':2},'num_parallel_calls':-1},"
      "{'op':'map','f':{'fn':'fail_on','arg':4},'num_parallel_calls':-1}]",
      "0; 1; !ARG; 3; !ARG; 5; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'fail_on','arg':0}}]", "!ARG; 1; 2; END",
      "function 'fail_on' failed at element 0: planned failure at 0", NULL },
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'fail_on','arg':2}}]", "0; 1; !ARG; END",
      "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'mod','arg':0}}]", "!ARG; !ARG; !ARG; END",
      "function 'mod' failed at element 0: division by zero", NULL },
    /* batch */
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':0}},{'op':'batch','batch_size':2}]",
      "!ARG; [1,2]; [3,4]; END", "function 'fail_on' failed at element 0: planned failure at 0",
      "!INVALID; [2,3]; [4]; END" },
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':4}},{'op':'batch','batch_size':2}]",
      "[0,1]; [2,3]; !ARG; END", "function 'fail_on' failed at element 4: planned failure at 4", NULL },
    { "[{'op':'range','args':[7]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'batch','batch_size':3,'drop_remainder':true}]",
      "!ARG; [3,4,5]; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'map','f':{'fn':'fail_on','arg':2}},{'op':'batch','batch_size':3}]",
      "!ARG; !ARG; [3,4,5]; [6,7]; END", "function 'fail_on' failed at element 1: planned failure at 1",
      "!INVALID; [3,4,5]; [6,7]; END" },
    { "[{'op':'range','args':[7]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'batch','batch_size':2,'num_parallel_calls':2}]",
      "[0,1]; !ARG; [3,4]; [5,6]; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[7]},{'op':'batch','batch_size':2,'num_parallel_calls':-2}]", "build !ARG",
      "batch (stage 2): num_parallel_calls must be at least 1 or LKS_AUTOTUNE (-1), found -2", "dies" },
    { "[{'op':'range','args':[4]},{'op':'batch','batch_size':2,'num_parallel_calls':0}]", "build !ARG",
      "batch (stage 2): num_parallel_calls must be at least 1 or LKS_AUTOTUNE (-1), found 0", "dies" },
    { "[{'op':'from_tensor_slices','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'concatenate','inputs':[[{'op':'from_tensors','value':{'array':[7],'dtype':'int64'}}]]},"
      "{'op':'batch','batch_size':3}]",
      "!SHAPE; END",
      "batch (stage 3): the element has shape (1,) in element 2 of the batch and () in its first:", NULL },
    { "[{'op':'from_tensors','value':{'array':['a','b'],'dtype':'string'}},"
      "{'op':'concatenate','inputs':[[{'op':'from_tensors','value':{'array':['c'],'dtype':'string'}}]]},"
      "{'op':'batch','batch_size':2}]",
      "!SHAPE; END",
      "batch (stage 3): the element has shape (1,) in element 1 of the batch and (2,) in its first:", NULL },
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'concatenate','inputs':[[{'op':'from_tensors','value':{'array':[3],'dtype':'int64'}},"
      "{'op':'repeat','count':3}]]},{'op':'batch','batch_size':2}]",
      "!SHAPE; [[3],[3]]; END",
      "batch (stage 4): the element has shape (1,) in element 1 of the batch and (2,) in its first:", NULL },
    { "[{'op':'range','args':[3]},{'op':'batch','batch_size':4611686018427387904}]", "[0,1,2]; END", NULL, NULL },
    /* padded */
    { "[{'op':'range','args':[3]},{'op':'padded_batch','batch_size':2,'padded_shapes':{'tuple':[[],[]]}}]",
      "build !ARG", "\"padded_shapes\" must have a list of sizes for each of 1 components", NULL },
    { "[{'op':'range','args':[3]},{'op':'padded_batch','batch_size':2}]", "[0,1]; [2]; END", NULL, NULL },
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},{'op':'repeat','count':2},"
      "{'op':'concatenate','inputs':[[{'op':'range','args':[3]},"
      "{'op':'map','f':{'fn':'fail_on','arg':1}},{'op':'batch','batch_size':1}]]},"
      "{'op':'padded_batch','batch_size':2}]",
      "[[1,2],[1,2]]; !ARG; [[2]]; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'padded_batch','batch_size':2,'padded_shapes':[-2]}]",
      "build !ARG", "axis 0 of the padded shape of the element is -2, must be a size or -1 (the largest)", NULL },
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'padded_batch','batch_size':2,'padding_values':{'array':'x','dtype':'string'}}]",
      "build !SHAPE", "a value of dtype int64 is needed, found string", NULL },
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'padded_batch','batch_size':2,'padding_values':{'array':0.5,'dtype':'float32'}}]",
      "build !SHAPE", "a value of dtype int64 is needed, found float32", NULL },
    { "[{'op':'from_tensor_slices','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'concatenate','inputs':[[{'op':'from_tensors','value':{'array':[7],'dtype':'int64'}}]]},"
      "{'op':'padded_batch','batch_size':3}]",
      "build !SHAPE", "the element has an unknown number of axes: say the padded shape", NULL },
    { "[{'op':'from_tensors','value':{'array':[1],'dtype':'int64'}},"
      "{'op':'concatenate','inputs':[[{'op':'from_tensors','value':{'array':[1,2,3],'dtype':'int64'}}]]},"
      "{'op':'concatenate','inputs':[[{'op':'from_tensors','value':{'array':[4],'dtype':'int64'}}]]},"
      "{'op':'padded_batch','batch_size':1,'padded_shapes':[2]}]",
      "[[1,0]]; !SHAPE; [[4,0]]; END", "axis 0 of the element has size 3 and can't be padded to 2", NULL },
    /* ragged */
    { "[{'op':'range','args':[3]},{'op':'ragged_batch','batch_size':2}]", "[0,1]; [2]; END", NULL, NULL },
    { "[{'op':'range','args':[3]},{'op':'ragged_batch','batch_size':0}]", "build !ARG",
      "batch_size must be at least 1, found 0", NULL },
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'ragged_batch','batch_size':2}]",
      "!ARG; [2,3]; [4]; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'from_tensor_slices','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'concatenate','inputs':[[{'op':'from_tensors','value':{'array':[7],'dtype':'int64'}}]]},"
      "{'op':'ragged_batch','batch_size':2}]",
      "build !SHAPE", "component 0 has an unknown number of axes: ragged_batch must know which are ragged",
      "[1,2]; [[7]]; END" },
    /* unbatch */
    { "[{'op':'range','args':[6]},{'op':'batch','batch_size':2},{'op':'unbatch'},"
      "{'op':'map','f':{'fn':'fail_on','arg':3}},{'op':'batch','batch_size':2},{'op':'unbatch'}]",
      "0; 1; !ARG; 4; 5; END", "function 'fail_on' failed at element 3: planned failure at 3", NULL },
    { "[{'op':'from_tensors','value':{'array':'a','dtype':'string'}},{'op':'unbatch'}]", "build !SHAPE",
      "component 0 is no batch: it has no axis to split", NULL },
    { "[{'op':'zip','inputs':[[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'concatenate','inputs':[[{'op':'from_tensors',"
      "'value':{'array':[3],'dtype':'int64'}}]]}],[{'op':'from_tensors',"
      "'value':{'array':[1],'dtype':'int64'}},{'op':'repeat','count':2}]]},{'op':'unbatch'}]",
      "!SHAPE; 3 1; END", "component 0 has 2 rows, component 1 has 1", NULL },
    { "[{'op':'from_tensors','value':{'array':[],'dtype':'int64','shape':[0]}},{'op':'unbatch'}]", "END", NULL, NULL },
    /* rebatch */
    { "[{'op':'range','args':[4]},{'op':'batch','batch_size':2},{'op':'rebatch','batch_size':[]}]", "build !ARG",
      "no batch size given", "build !INVALID" },
    { "[{'op':'range','args':[4]},{'op':'rebatch','batch_size':2}]", "build !SHAPE",
      "component 0 is no batch: call batch first", NULL },
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':3}},"
      "{'op':'batch','batch_size':2},{'op':'rebatch','batch_size':3}]",
      "!ARG; [4,5,6]; [7]; END", "function 'fail_on' failed at element 3: planned failure at 3", NULL },
    { "[{'op':'zip','inputs':[[{'op':'from_tensors',"
      "'value':{'array':[1,2],'dtype':'int64'}}],[{'op':'from_tensors',"
      "'value':{'array':[1],'dtype':'int64'}}]]},{'op':'rebatch','batch_size':2}]",
      "build !SHAPE", "component 0 has 2 rows, component 1 has 1", NULL },
    { "[{'op':'range','args':[4]},{'op':'batch','batch_size':2},{'op':'rebatch','batch_size':[0,3]}]",
      "[]; [0,1,2]; []; [3]; END", NULL, NULL },
    /* repeat */
    { "[{'op':'range','args':[1]},{'op':'map','f':{'fn':'fail_on','arg':0}},{'op':'repeat'},"
      "{'op':'take','count':3}]",
      "!ARG; END", "function 'fail_on' failed at element 0: planned failure at 0", NULL },
    /* take */
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':1}},{'op':'take','count':3}]",
      "0; !ARG; 2; 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    /* skip */
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':1}},{'op':'skip','count':3}]",
      "!ARG; 4; 5; END", "function 'fail_on' failed at element 1: planned failure at 1", "!INVALID; 5; END" },
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':3}},{'op':'skip','count':3}]",
      "!ARG; 4; 5; END", "function 'fail_on' failed at element 3: planned failure at 3", NULL },
    { "[{'op':'range','args':[2]},{'op':'map','f':{'fn':'fail_on','arg':1}},{'op':'skip','count':5}]", "!ARG; END",
      "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    /* shard */
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'shard','num_shards':2,'index':1}]",
      "1; 3; 5; 7; END", NULL, "1; !INVALID; 4; 6; END" },
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':3}},"
      "{'op':'shard','num_shards':2,'index':1}]",
      "1; !ARG; 5; 7; END", "function 'fail_on' failed at element 3: planned failure at 3", "1; !INVALID; 4; 6; END" },
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':0}},"
      "{'op':'shard','num_shards':3,'index':1}]",
      "1; 4; END", NULL, "!INVALID; 2; 5; END" },
    /* take_while */
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'take_while','f':{'fn':'less','arg':4}}]",
      "0; !ARG; 2; 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'range','args':[6]},{'op':'take_while','f':'double'}]", "build !SHAPE",
      "function 'double' must return one bool scalar, returns int64 ()", NULL },
    /* filter */
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':3}},{'op':'filter','f':'is_even'}]",
      "0; 2; !ARG; 4; END", "function 'fail_on' failed at element 3: planned failure at 3", NULL },
    /* enumerate */
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':1}},{'op':'enumerate'}]",
      "0 0; !ARG; 2 2; 3 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'range','args':[2]},{'op':'enumerate','start':-3}]", "-3 0; -2 1; END", NULL, NULL },
    /* concatenate */
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'concatenate','inputs':[[{'op':'range','args':[2]},"
      "{'op':'map','f':{'fn':'fail_on','arg':0}}]]}]",
      "0; !ARG; 2; !ARG; 1; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    /* zip */
    { "[{'op':'zip','inputs':[[{'op':'range','args':[4]},"
      "{'op':'map','f':{'fn':'fail_on','arg':1}}],[{'op':'range','args':[4]},"
      "{'op':'map','f':{'fn':'fail_on','arg':2}}]]}]",
      "0 0; !ARG; !ARG; 3 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'zip','inputs':[[{'op':'range','args':[2]}],[{'op':'range','args':[4]},"
      "{'op':'map','f':{'fn':'fail_on','arg':2}}]]}]",
      "0 0; 1 1; END", NULL, NULL },
    { "[{'op':'zip','inputs':[[{'op':'range','args':[4]},"
      "{'op':'map','f':{'fn':'fail_on','arg':2}}],[{'op':'range','args':[2]}]]}]",
      "0 0; 1 1; !ARG; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'zip','inputs':[[{'op':'range','args':[4]},"
      "{'op':'map','f':{'fn':'fail_on','arg':1},'num_parallel_calls':2}],[{'op':'range','args':[4]}]]}]",
      "0 0; !ARG; 2 2; 3 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    /* shuffle */
    { "[{'op':'range','args':[4]},{'op':'shuffle','buffer_size':0,'seed':1}]", "build !ARG",
      "buffer_size must be at least 1, or -2 for the whole input, found 0", NULL },
    { "[{'op':'range','args':[4]},{'op':'shuffle','buffer_size':-1,'seed':1}]", "build !ARG",
      "buffer_size must be at least 1, or -2 for the whole input, found -1", NULL },
    { "[{'op':'range','args':[4]},{'op':'shuffle','buffer_size':-3,'seed':1}]", "build !ARG",
      "buffer_size must be at least 1, or -2 for the whole input, found -3", NULL },
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'shuffle','buffer_size':-2,'seed':1}]",
      "!ARG; 0; 4; 1; 3; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':5}},"
      "{'op':'shuffle','buffer_size':3,'seed':1}]",
      "1; 3; 0; !ARG; 6; 2; 4; 7; END", "function 'fail_on' failed at element 5: planned failure at 5", NULL },
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':0}},"
      "{'op':'shuffle','buffer_size':3,'seed':1}]",
      "!ARG; 2; 4; 1; 3; END", "function 'fail_on' failed at element 0: planned failure at 0", NULL },
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'map','f':{'fn':'fail_on','arg':2}},{'op':'shuffle','buffer_size':4,'seed':1}]",
      "!ARG; !ARG; 0; 6; 7; 4; 5; 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'shuffle','buffer_size':3,'seed':1},{'op':'repeat','count':2}]",
      "!ARG; 0; 2; !ARG; 0; 2; END", "function 'fail_on' failed at element 1: planned failure at 1",
      "!INVALID; 0; !INVALID; 2; 0; 2; END" },
    /* cache */
    { "[{'op':'range','args':[1]},{'op':'map','f':{'fn':'fail_on','arg':0}},{'op':'cache'}]", "!ARG; END",
      "function 'fail_on' failed at element 0: planned failure at 0", NULL },
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'fail_on','arg':1}},{'op':'cache'},"
      "{'op':'repeat','count':2}]",
      "0; !ARG; 2; 0; 2; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'range','args':[5]},{'op':'cache'},{'op':'take','count':2},{'op':'repeat','count':2}]", "0; 1; 0; 1; END",
      NULL, NULL },
    /* prefetch */
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'prefetch','buffer_size':2}]",
      "0; 1; !ARG; 3; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'prefetch','buffer_size':0}]",
      "0; 1; !ARG; 3; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':0}},"
      "{'op':'prefetch','buffer_size':-1}]",
      "!ARG; 1; 2; 3; END", "function 'fail_on' failed at element 0: planned failure at 0", NULL },
    /* interleave */
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'interleave','f':{'fn':'repeated','arg':2},'cycle_length':2}]",
      "0; !ARG; 2; 0; 2; 3; 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'interleave','f':{'fn':'repeated','arg':2},'cycle_length':2,'num_parallel_calls':2}]",
      "0; !ARG; 2; 0; 2; 3; 3; END", "function 'fail_on' failed at element 1: planned failure at 1",
      "0; !INVALID; 0; 2; 3; 2; 3; END" },
    { "[{'op':'range','args':[4]},{'op':'interleave','f':{'fn':'repeated','arg':2},'cycle_length':-2}]", "build !ARG",
      "cycle_length must be 1 to 4096, found -2", NULL },
    { "[{'op':'range','args':[4]},{'op':'interleave','f':{'fn':'repeated','arg':2},"
      "'cycle_length':2,'num_parallel_calls':-2}]",
      "build !ARG", "num_parallel_calls must be at least 1 or LKS_AUTOTUNE (-1), found -2", NULL },
    { "[{'op':'range','args':[4]},{'op':'interleave','f':{'fn':'repeated','arg':1},"
      "'cycle_length':2,'num_parallel_calls':3}]",
      "0; 1; 2; 3; END", NULL, "build !INVALID" },
    { "[{'op':'range','args':[4]},{'op':'interleave','f':'double','cycle_length':2}]", "build !SHAPE",
      "function 'double' must return one dataset, returns int64 ()", NULL },
    /* flat_map */
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'flat_map','f':{'fn':'repeated','arg':2}}]",
      "0; 0; !ARG; 2; 2; 3; 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'range','args':[2]},{'op':'flat_map','f':{'fn':'repeated','arg':0}}]", "END", NULL, NULL },
    /* window */
    { "[{'op':'range','args':[4]},{'op':'window','size':4611686018427387904,'stride':4}]", "build !LIMIT",
      "size times stride overflows", "<dataset>; END" },
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':2}},{'op':'window','size':2},"
      "{'op':'flat_map','f':{'fn':'batch_window','arg':2}}]",
      "[0,1]; !ARG; [4,5]; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[7]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'window','size':1,'shift':3},{'op':'flat_map','f':{'fn':'batch_window','arg':2}}]",
      "[0]; [3]; [6]; END", NULL, NULL },
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'window','size':3,'shift':1,'drop_remainder':true},"
      "{'op':'flat_map','f':{'fn':'batch_window','arg':3}}]",
      "!ARG; !ARG; !ARG; [3,4,5]; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'window','size':2,'stride':2,'shift':4},{'op':'flat_map','f':{'fn':'batch_window','arg':2}}]",
      "[0,2]; [4,6]; END", NULL, NULL },
    /* group */
    { "[{'op':'range','args':[6]},{'op':'group_by_window','key_func':{'fn':'fail_on','arg':2},"
      "'reduce_func':{'fn':'batch_all','arg':9},'window_size':1}]",
      "[0]; [1]; !ARG; [3]; [4]; [5]; END",
      "group_by_window (stage 2): function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'group_by_window','key_func':{'fn':'mod','arg':2},'reduce_func':{'fn':'batch_all','arg':9},"
      "'window_size':2}]",
      "!ARG; [1,3]; [0,4]; [5]; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    { "[{'op':'range','args':[6]},{'op':'group_by_window','key_func':{'fn':'mod','arg':2},"
      "'reduce_func':{'fn':'batch_all','arg':9},'window_size':-1}]",
      "!ARG; !ARG; !ARG; !ARG", "the window size must be at least 1, found -1", NULL },
    { "[{'op':'range','args':[6]},{'op':'group_by_window','key_func':'is_even',"
      "'reduce_func':{'fn':'batch_all','arg':9},'window_size':2}]",
      "build !SHAPE", "function 'is_even' must return one int64 scalar, returns bool ()", NULL },
    { "[{'op':'range','args':[6]},{'op':'group_by_window','key_func':{'fn':'mod','arg':2},"
      "'reduce_func':{'fn':'batch_all','arg':9},'window_size_func':{'fn':'mod','arg':1}}]",
      "!ARG; !ARG; !ARG; !ARG", "the window size must be at least 1, found 0", NULL },
    { "[{'op':'range','args':[6]},{'op':'group_by_window','key_func':{'fn':'mod','arg':2},"
      "'reduce_func':{'fn':'batch_all','arg':9},'window_size_func':{'fn':'fail_on','arg':1}}]",
      "!ARG; !ARG; !ARG; !ARG", "the window size must be at least 1, found 0", NULL },
    { "[{'op':'range','args':[6]},{'op':'group_by_window','key_func':{'fn':'mod','arg':2},"
      "'reduce_func':{'fn':'batch_all','arg':0},'window_size':2}]",
      "build !ARG", "function 'batch_all': batch (stage 2): batch_size must be at least 1, found 0",
      "!INTERNAL; !INTERNAL; !INTERNAL; !INTERNAL" },
    /* bucket */
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'bucket_by_sequence_length','element_length_func':'length',"
      "'bucket_boundaries':[5,3],'bucket_batch_sizes':[1,1,1]}]",
      "build !ARG", "boundary 1 does not rise", "[[1,2]]; END" },
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'bucket_by_sequence_length','element_length_func':'length',"
      "'bucket_boundaries':[],'bucket_batch_sizes':[2]}]",
      "[[1,2]]; END", NULL, NULL },
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'bucket_by_sequence_length','element_length_func':'length',"
      "'bucket_boundaries':[3],'bucket_batch_sizes':[0,1]}]",
      "build !ARG", "batch size 0 must be at least 1", "!INVALID; END" },
    /* scan */
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'scan','initial':0,'f':'running_sum'}]",
      "0; 1; !ARG; 4; 8; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    /* unique */
    { "[{'op':'from_tensor_slices','value':{'array':[1,2,1,3],'dtype':'int64'}},"
      "{'op':'map','f':{'fn':'fail_on','arg':2}},{'op':'unique'}]",
      "1; !ARG; 3; END", "function 'fail_on' failed at element 1: planned failure at 2", NULL },
    { "[{'op':'from_tensor_slices','value':{'array':[[1],[1],[2]],'dtype':'int64'}},{'op':'unique'}]", "[1]; [2]; END",
      NULL, NULL },
    { "[{'op':'range','args':[4]},{'op':'unique'},{'op':'map','f':{'fn':'fail_on','arg':2}}]", "0; 1; !ARG; 3; END",
      "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    /* ignore */
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'fail_on','arg':0}},"
      "{'op':'map','f':{'fn':'fail_on','arg':1}},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'ignore_errors'}]",
      "END", NULL, NULL },
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':1}},{'op':'ignore_errors'},"
      "{'op':'batch','batch_size':2}]",
      "[0,2]; [3,4]; [5]; END", NULL, NULL },
    /* batch */
    { "[{'op':'range','args':[6]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'batch','batch_size':2},{'op':'ignore_errors'}]",
      "[2,3]; [4,5]; END", NULL, NULL },
    /* ignore */
    { "[{'op':'range','args':[4]},{'op':'ignore_errors'},{'op':'map','f':{'fn':'fail_on','arg':1}}]",
      "0; !ARG; 2; 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'range','args':[3]},{'op':'assert_cardinality','n':2},{'op':'ignore_errors'}]", "0; 1; END", NULL,
      "dies" },
    /* choose */
    { "[{'op':'choose_from_datasets','inputs':[[{'op':'from_tensor_slices',"
      "'value':{'array':[0,1,0,1],'dtype':'int64'}},"
      "{'op':'map','f':{'fn':'fail_on','arg':1}}],[{'op':'range','args':[4]}],[{'op':'range',"
      "'args':[10,14]}]]}]",
      "0; !ARG; 1; !ARG; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'choose_from_datasets','inputs':[[{'op':'from_tensor_slices',"
      "'value':{'array':[0,1,0,1,0],'dtype':'int64'}}],[{'op':'range','args':[4]},"
      "{'op':'map','f':{'fn':'fail_on','arg':1}}],[{'op':'range','args':[10,14]}]]}]",
      "0; 10; !ARG; 11; 2; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'choose_from_datasets','inputs':[[{'op':'from_tensor_slices',"
      "'value':{'array':[0,5,1],'dtype':'int64'}}],[{'op':'range','args':[4]}],[{'op':'range',"
      "'args':[10,14]}]]}]",
      "0; !ARG; 10; END", "the choice 5 does not lie in [0, 2)", NULL },
    { "[{'op':'choose_from_datasets','inputs':[[{'op':'from_tensor_slices',"
      "'value':{'array':[0,1],'dtype':'int64'}}]]}]",
      "build !ARG", "no dataset given", NULL },
    { "[{'op':'choose_from_datasets','inputs':[[{'op':'from_tensor_slices',"
      "'value':{'array':[0,1],'dtype':'int64'}}],[{'op':'range','args':[3]}],[{'op':'from_tensor_slices',"
      "'value':{'array':['a'],'dtype':'string'}}]]}]",
      "build !SHAPE", "the element is int64 in one dataset and string in the other", NULL },
    { "[{'op':'choose_from_datasets','inputs':[[{'op':'from_tensor_slices',"
      "'value':{'array':[[0],[1]],'dtype':'int64'}}],[{'op':'range','args':[3]}],[{'op':'range',"
      "'args':[3]}]]}]",
      "build !SHAPE", "choices must be int64 scalars, found int64 (1,)", NULL },
    /* sample */
    { "[{'op':'sample_from_datasets','inputs':[[{'op':'range','args':[4]},"
      "{'op':'map','f':{'fn':'fail_on','arg':1}}],[{'op':'range',"
      "'args':[10,13]}]],'weights':[1.0,0.0],'seed':1}]",
      "0; !ARG; 2; 3; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'sample_from_datasets','inputs':[[{'op':'range','args':[4]},"
      "{'op':'map','f':{'fn':'fail_on','arg':1}}],[{'op':'range',"
      "'args':[10,14]}]],'weights':[0.5,0.5],'seed':1}]",
      "10; 0; !ARG; 2; 3; 11; 12; 13; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'sample_from_datasets','inputs':[[{'op':'range','args':[2]}],[{'op':'range',"
      "'args':[2]}]],'weights':[0.0,0.0],'seed':1}]",
      "END", NULL, NULL },
    { "[{'op':'sample_from_datasets','inputs':[[{'op':'range','args':[2]}],[{'op':'range',"
      "'args':[2]}]],'weights':[-1.0,1.0],'seed':1}]",
      "0; 1; END", NULL, NULL },
    { "[{'op':'sample_from_datasets','inputs':[[{'op':'range','args':[3]}],[{'op':'from_tensor_slices',"
      "'value':{'array':['a'],'dtype':'string'}}]],'seed':1}]",
      "build !SHAPE", "the element is int64 in one dataset and string in the other", NULL },
    /* assert */
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'assert_cardinality','n':3}]",
      "0; !ARG; 2; !STATE; END", "function 'fail_on' failed at element 1: planned failure at 1",
      "0; !INVALID; 2; !PRECOND; !PRECOND; !PRECOND" },
    { "[{'op':'range','args':[3]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'assert_cardinality','n':2}]",
      "0; !ARG; 2; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    { "[{'op':'range','args':[3]},{'op':'assert_cardinality','n':-5}]", "build !ARG",
      "a cardinality is at least 0, or -1 (endless), -2 (unknown); found -5",
      "!PRECOND; !PRECOND; !PRECOND; !PRECOND" },
    { "[{'op':'range','args':[3]},{'op':'assert_cardinality','n':5},{'op':'take','count':2}]", "0; 1; END", NULL,
      NULL },
    { "[{'op':'range','args':[3]},{'op':'assert_cardinality','n':-2}]", "0; 1; 2; END", NULL,
      "!PRECOND; !PRECOND; !PRECOND; !PRECOND" },
    { "[{'op':'range','args':[3]},{'op':'assert_cardinality','n':-1}]", "0; 1; 2; !STATE; END",
      "endless data was promised, it ended after 3 elements", "0; 1; 2; !PRECOND; !PRECOND; !PRECOND; !PRECOND" },
    { "[{'op':'range','args':[2]},{'op':'assert_cardinality','n':0}]", "!STATE; END",
      "0 elements were promised, there are at least 1", "!PRECOND; !PRECOND; !PRECOND; !PRECOND" },
    /* slices */
    { "[{'op':'from_tensor_slices','value':{'dict':{'a':{'array':[1,2],'dtype':'int64'},"
      "'b':{'array':['x'],'dtype':'string'}}}}]",
      "build !ARG", "component 0 has 2 rows, component 1 has 1: they must be equal", NULL },
    /* range */
    { "[{'op':'range','args':[9223372036854775805,9223372036854775807,1]}]",
      "9223372036854775805; 9223372036854775806; END", NULL, NULL },
    { "[{'op':'range','args':[0,-3,-9223372036854775808]}]", "0; END", NULL, NULL },
    { "[{'op':'range','args':[2147483646,2147483650],'dtype':'int32'}]",
      "2147483646; 2147483647; -2147483648; -2147483647; END", NULL, NULL },
    /* zip */
    { "[{'op':'zip','inputs':[]}]", "build !ARG", "\"inputs\" of \"zip\" must be a list of 1 to 64 pipelines", NULL },
};

static void every_stage_fails_as_in_tensorflow(void **state)
{
    (void)state;
    run_cases(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_fails_as_in_tensorflow),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
