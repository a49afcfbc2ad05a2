/* test_data_errors_functions.c - element functions on what they can't take, and failures in longer pipelines.
 * TensorFlow finds some wrong arguments only at the first element, Lockstep all when the stage is built.
 */
#include "test_data_errors.h"

static const error_case cases[] = {
    /* decode_raw */
    { "[{'op':'from_tensors','value':{'array':'abc','dtype':'string'}},"
      "{'op':'map','f':{'fn':'decode_raw','dtype':'uint16'}}]",
      "!SHAPE; END", "function 'decode_raw(uint16, (", NULL },
    { "[{'op':'from_tensors','value':{'array':'abcd','dtype':'string'}},"
      "{'op':'map','f':{'fn':'decode_raw','dtype':'uint8','shape':[3]}}]",
      "!SHAPE; END", "function 'decode_raw(uint8, (3,))' failed at element 0: 4 bytes do not make uint8 (3,) of 1",
      NULL },
    { "[{'op':'from_tensors','value':{'array':'','dtype':'string'}},"
      "{'op':'map','f':{'fn':'decode_raw','dtype':'uint8'}}]",
      "[]; END", NULL, NULL },
    { "[{'op':'from_tensors','value':{'array':'a','dtype':'string'}},"
      "{'op':'map','f':{'fn':'decode_raw','dtype':'bool'}}]",
      "[1]; END", NULL, NULL },
    { "[{'op':'from_tensors','value':{'array':'a','dtype':'string'}},"
      "{'op':'map','f':{'fn':'decode_raw','dtype':'string'}}]",
      "build !ARG", "decode_raw takes a dtype of numbers and a shape with at most one unknown", NULL },
    /* decode_image */
    { "[{'op':'from_tensors','value':{'array':'hello','dtype':'string'}},"
      "{'op':'map','f':{'fn':'decode_image'}}]",
      "!FORMAT; END", "function 'decode_image(0)' failed at element 0: not a JPEG, PNG, BMP or GIF picture (5 bytes)",
      NULL },
    { "[{'op':'from_tensors','value':{'array':'','dtype':'string'}},{'op':'map','f':{'fn':'decode_image'}}]",
      "!FORMAT; END", "function 'decode_image(0)' failed at element 0: the picture is empty (0 bytes)", NULL },
    { "[{'op':'from_tensors','value':{'array':'x','dtype':'string'}},"
      "{'op':'map','f':{'fn':'decode_image','channels':2}}]",
      "build !ARG", "function 'decode_image': channels must be 0 (as the file has it), 1, 3 or 4, found 2", NULL },
    { "[{'op':'range','args':[2]},{'op':'map','f':{'fn':'decode_image'}}]", "build !SHAPE",
      "decode_image takes one string, found int64 ()", NULL },
    /* decode_jpeg */
    { "[{'op':'from_tensors','value':{'array':'hello','dtype':'string'}},"
      "{'op':'map','f':{'fn':'decode_jpeg'}}]",
      "!FORMAT; END", "function 'decode_image(0)' failed at element 0: not a JPEG, PNG, BMP or GIF picture (5 bytes)",
      NULL },
    /* one_hot */
    { "[{'op':'from_tensor_slices','value':{'array':[0,3,1,-1],'dtype':'int64'}},"
      "{'op':'map','f':{'fn':'one_hot','depth':2}}]",
      "[1,0]; !ARG; [0,1]; !ARG; END", "function 'one_hot(2)' failed at element 1: label 3 does not lie in [0, 2)",
      "[1,0]; [0,0]; [0,1]; [0,0]; END" },
    { "[{'op':'range','args':[2]},{'op':'map','f':{'fn':'one_hot','depth':-1}}]", "build !ARG",
      "one_hot takes a depth of at least 1 (0: as the labels say), found -1", NULL },
    { "[{'op':'from_tensor_slices','value':{'array':[0.5],'dtype':'float32'}},"
      "{'op':'map','f':{'fn':'one_hot','depth':2}}]",
      "build !SHAPE", "one_hot takes integers, found float32", NULL },
    /* expand */
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'expand_dims','axis':7}}]",
      "build !SHAPE", "function 'expand_dims(7)': axis 7 cannot be added to 3 axes", NULL },
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'expand_dims','axis':-9}}]",
      "build !SHAPE", "function 'expand_dims(-9)': axis -9 cannot be added to 3 axes", NULL },
    /* cast */
    { "[{'op':'from_tensors','value':{'array':'1','dtype':'string'}},"
      "{'op':'map','f':{'fn':'cast','dtype':'int64'}}]",
      "build !SHAPE", "cast takes numbers, found strings", NULL },
    /* resize */
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'resize','height':0,'width':2}}]",
      "build !ARG", "resize takes sizes of 1 to 1048576, found 0 x 2", "!INVALID; END" },
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'resize','height':-1,'width':2}}]",
      "build !ARG", "resize takes sizes of 1 to 1048576, found -1 x 2", "!INVALID; END" },
    { "[{'op':'from_tensors','value':{'array':[[7,7,7,7],[7,7,7,7],[7,7,7,7],[7,7,7,7]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'resize','height':2,'width':2}}]",
      "build !SHAPE", "resize takes pictures (height, width, channels) or", NULL },
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'resize','height':2,'width':2,'method':'cubic'}}]",
      "build !ARG", "function 'resize': unknown interpolation \"cubic\": it is bilinear, nearest, bicubic, area,",
      NULL },
    /* crop_or_pad */
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'resize_with_crop_or_pad','height':0,'width':2}}]",
      "build !ARG", "resize_with_crop_or_pad takes sizes of 1 to 1048576, found", NULL },
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'resize_with_crop_or_pad','height':-2,'width':2}}]",
      "build !ARG", "resize_with_crop_or_pad takes sizes of 1 to 1048576, found", NULL },
    /* with_pad */
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'resize_with_pad','height':0,'width':2}}]",
      "build !ARG", "resize_with_pad takes sizes of 1 to 1048576, found 0 x 2", NULL },
    /* central */
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'central_crop','fraction':0}}]",
      "build !ARG", "central_crop takes a fraction above 0 and up to 1, found 0", NULL },
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'central_crop','fraction':1.5}}]",
      "build !ARG", "central_crop takes a fraction above 0 and up to 1, found 1.5", NULL },
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'central_crop','fraction':-0.5}}]",
      "build !ARG", "central_crop takes a fraction above 0 and up to 1, found -0.5", NULL },
    /* random_crop */
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'random_crop','height':5,'width':2}}]",
      "build !SHAPE", "function 'random_crop(5, 2)': a crop of 5 x 2 does not fit into a picture of 4 x 4",
      "!INVALID; END" },
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'random_crop','height':0,'width':2}}]",
      "build !ARG", "random_crop takes sizes of 1 to 1048576, found 0 x 2", "[]; END" },
    /* random_hue */
    { "[{'op':'from_tensors','value':{'array':[[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],"
      "[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,"
      "0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]]],"
      "'dtype':'float32'}},{'op':'map','f':{'fn':'random_hue','max_delta':0.6}}]",
      "build !ARG", "random_hue: the range from -0.6 to 0.6 has no meaning", NULL },
    { "[{'op':'from_tensors','value':{'array':[[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],"
      "[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,"
      "0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]]],"
      "'dtype':'float32'}},{'op':'map','f':{'fn':'random_hue','max_delta':-1}}]",
      "build !ARG", "random_hue: the range from 1 to -1 has no meaning", NULL },
    /* random_contrast */
    { "[{'op':'from_tensors','value':{'array':[[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],"
      "[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,"
      "0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]]],"
      "'dtype':'float32'}},{'op':'map','f':{'fn':'random_contrast','lower':2,'upper':1}}]",
      "build !ARG", "random_contrast: the range from 2 to 1 has no meaning", NULL },
    { "[{'op':'from_tensors','value':{'array':[[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],"
      "[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,"
      "0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]]],"
      "'dtype':'float32'}},{'op':'map','f':{'fn':'random_contrast','lower':-1,'upper':1}}]",
      "build !ARG", "random_contrast: the range from -1 to 1 has no meaning", NULL },
    /* random_saturation */
    { "[{'op':'from_tensors','value':{'array':[[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],"
      "[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,"
      "0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]]],"
      "'dtype':'float32'}},{'op':'map','f':{'fn':'random_saturation','lower':2,'upper':1}}]",
      "build !ARG", "random_saturation: the range from 2 to 1 has no meaning", NULL },
    /* random_brightness */
    { "[{'op':'from_tensors','value':{'array':[[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],"
      "[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,"
      "0.5],[0.5,0.5,0.5]],[[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5],[0.5,0.5,0.5]]],"
      "'dtype':'float32'}},{'op':'map','f':{'fn':'random_brightness','max_delta':-1}}]",
      "build !ARG", "random_brightness: the range from 1 to -1 has no meaning", NULL },
    /* grey */
    { "[{'op':'from_tensors','value':{'array':[[[7],[7]],[[7],[7]]],'dtype':'uint8'}},"
      "{'op':'map','f':{'fn':'rgb_to_grayscale'}}]",
      "build !SHAPE", "rgb_to_grayscale takes pictures of 3 channels, found 1", NULL },
    /* rgb */
    { "[{'op':'from_tensors','value':{'array':[[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,"
      "7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]],[[7,7,7],[7,7,7],[7,7,7],[7,7,7]]],"
      "'dtype':'uint8'}},{'op':'map','f':{'fn':'grayscale_to_rgb'}}]",
      "build !SHAPE", "grayscale_to_rgb takes pictures of 1 channel, found 3", NULL },
    /* flip */
    { "[{'op':'from_tensors','value':{'array':[[7,7],[7,7]],'dtype':'uint8'}},"
      "{'op':'map','f':{'fn':'flip_left_right'}}]",
      "build !SHAPE", "function 'flip_left_right': flip takes pictures (height, width, channels) or batches of them,",
      NULL },
    { "[{'op':'range','args':[1]},{'op':'map','f':{'fn':'flip_left_right'}}]", "build !SHAPE",
      "function 'flip_left_right': flip takes pictures (height, width, channels) or batches of them,", NULL },
    /* rot90 */
    { "[{'op':'from_tensors','value':{'array':[[7,7],[7,7]],'dtype':'uint8'}},"
      "{'op':'map','f':{'fn':'rot90'}}]",
      "build !SHAPE", "rot90 takes pictures (height, width, channels) or batches of them, found", NULL },
    /* standardize */
    { "[{'op':'from_tensors','value':{'array':[[[7],[7]],[[7],[7]]],'dtype':'int32'}},"
      "{'op':'map','f':{'fn':'standardize'}}]",
      "build !SHAPE", "standardize takes uint8 or float32 pictures, found int32; cast them",
      "[[[0],[0]],[[0],[0]]]; END" },
    /* saturation */
    { "[{'op':'from_tensors','value':{'array':[[[0.5],[0.5]],[[0.5],[0.5]]],'dtype':'float32'}},"
      "{'op':'map','f':{'fn':'adjust_saturation','factor':0.5}}]",
      "build !SHAPE", "adjust_saturation takes pictures of 3 channels, found 1", "!INVALID; END" },
    /* rejection */
    { "[{'op':'from_tensor_slices','value':{'array':[0,1,5],'dtype':'int64'}},"
      "{'op':'rejection_resample','class_func':{'fn':'mod','arg':9},"
      "'target_dist':[0.5,0.5],'initial_dist':[0.5,0.5],'seed':1}]",
      "0 0; 1 1; !ARG; END", "function 'mod' gave class 5, the target has classes 0 to 1", "0 0; 1 1; 5 5; END" },
    { "[{'op':'range','args':[3]},{'op':'rejection_resample','class_func':{'fn':'mod','arg':2},"
      "'target_dist':[0.5,0.5],'initial_dist':[1.0],'seed':1}]",
      "build !ARG", "\"initial_dist\" has 1 shares, \"target_dist\" 2", "END" },
    { "[{'op':'range','args':[3]},{'op':'rejection_resample','class_func':{'fn':'mod','arg':2},"
      "'target_dist':[-0.5,1.5],'initial_dist':[0.5,0.5],'seed':1}]",
      "build !ARG", "target_dist[0] is -0.5: shares must be 0 or more and finite", "1 1; END" },
    { "[{'op':'range','args':[3]},{'op':'rejection_resample','class_func':'is_even',"
      "'target_dist':[0.5,0.5],'initial_dist':[0.5,0.5],'seed':1}]",
      "build !SHAPE", "function 'is_even' must return one int64 scalar, returns bool ()", NULL },
    /* ignore */
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'interleave','f':{'fn':'repeated','arg':2},'cycle_length':2},{'op':'ignore_errors'}]",
      "0; 2; 0; 2; 3; 3; END", NULL, NULL },
    /* cache */
    { "[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'cache','filename':'cachefile'},{'op':'take','count':9},{'op':'repeat','count':2}]",
      "0; 1; !ARG; 3; 0; 1; 3; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    /* window */
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':2}},{'op':'window','size':2},"
      "{'op':'flat_map','f':{'fn':'batch_window','arg':2}},{'op':'ignore_errors'}]",
      "[0,1]; [4,5]; [6,7]; END", NULL, NULL },
    /* unique */
    { "[{'op':'from_tensor_slices','value':{'array':[1,2,1,3],'dtype':'int64'}},"
      "{'op':'map','f':{'fn':'fail_on','arg':2}},{'op':'ignore_errors'},{'op':'unique'}]",
      "1; 3; END", NULL, NULL },
    /* shuffle */
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':2}},{'op':'ignore_errors'},"
      "{'op':'shuffle','buffer_size':9,'seed':3}]",
      "0; 1; 3; 4; END", NULL, NULL },
    /* zip */
    { "[{'op':'zip','inputs':[[{'op':'range','args':[4]},{'op':'map','f':{'fn':'fail_on','arg':1}},"
      "{'op':'ignore_errors'}],[{'op':'range','args':[4]}]]}]",
      "0 0; 2 1; 3 2; END", NULL, NULL },
    /* prefetch */
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':2}},"
      "{'op':'prefetch','buffer_size':2},{'op':'batch','batch_size':2}]",
      "[0,1]; !ARG; [3,4]; END", "function 'fail_on' failed at element 2: planned failure at 2", NULL },
    /* padded */
    { "[{'op':'range','args':[5]},{'op':'map','f':{'fn':'fail_on','arg':3}},"
      "{'op':'batch','batch_size':2},{'op':'padded_batch','batch_size':2}]",
      "!ARG; [[4]]; END", "function 'fail_on' failed at element 3: planned failure at 3", NULL },
    /* group */
    { "[{'op':'range','args':[8]},{'op':'map','f':{'fn':'fail_on','arg':6}},"
      "{'op':'group_by_window','key_func':{'fn':'mod','arg':2},'reduce_func':{'fn':'batch_all','arg':9},"
      "'window_size':3}]",
      "[0,2,4]; [1,3,5]; !ARG; [7]; END", "function 'fail_on' failed at element 6: planned failure at 6", NULL },
    /* bucket */
    { "[{'op':'range','args':[1,5]},{'op':'map','f':{'fn':'fail_on','arg':3}},"
      "{'op':'batch','batch_size':1},{'op':'bucket_by_sequence_length','element_length_func':'length',"
      "'bucket_boundaries':[2],'bucket_batch_sizes':[2,2]}]",
      "[[1],[2]]; !ARG; [[4]]; END", "function 'fail_on' failed at element 2: planned failure at 3", NULL },
    /* concatenate */
    { "[{'op':'range','args':[3]},{'op':'concatenate','inputs':[[{'op':'range','args':[3]},"
      "{'op':'map','f':{'fn':'fail_on','arg':1}}]]},{'op':'shuffle','buffer_size':6,'seed':2}]",
      "!ARG; 0; 2; 2; 1; 0; END", "function 'fail_on' failed at element 1: planned failure at 1", NULL },
    /* skip */
    { "[{'op':'range','args':[3]},{'op':'skip','count':-1}]", "END", NULL, NULL },
    /* take */
    { "[{'op':'range','args':[3]},{'op':'take','count':-7}]", "0; 1; 2; END", NULL, NULL },
    /* repeat */
    { "[{'op':'range','args':[1]},{'op':'repeat','count':9223372036854775807},{'op':'take','count':2}]", "0; 0; END",
      NULL, NULL },
    /* batch */
    { "[{'op':'range','args':[2]},{'op':'map','f':{'fn':'fail_on','arg':0}},"
      "{'op':'batch','batch_size':2,'drop_remainder':true}]",
      "!ARG; END", "function 'fail_on' failed at element 0: planned failure at 0", NULL },
    /* scan */
    { "[{'op':'from_tensors','value':{'array':[1,2],'dtype':'int64'}},"
      "{'op':'scan','initial':0,'f':'running_sum'}]",
      "build !SHAPE", "function 'running_sum': component 1 must be an int64 scalar", "[1,2]; END" },
    /* choose */
    { "[{'op':'choose_from_datasets','inputs':[[{'op':'from_tensor_slices',"
      "'value':{'array':[0.0],'dtype':'float32'}}],[{'op':'range','args':[3]}]]}]",
      "build !SHAPE", "choices must be int64 scalars, found float32 ()", NULL },
};

static void functions_refuse_what_they_cannot_take(void **state)
{
    (void)state;
    run_cases(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_refuse_what_they_cannot_take),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
