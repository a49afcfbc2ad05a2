/* test_data_errors_files.c - files that are damaged, missing or not what they are read as. Lockstep goes on with the
 * next file where TensorFlow stays at the failed one for ever.
 */
#include "test_data_errors.h"

#include <sys/stat.h>

#define FILE_OF(name, bytes)            \
    {                                   \
        name, bytes, sizeof(bytes) - 1, \
    }

static const struct {
    const char *name, *bytes;
    size_t size;
} files[] = {
    FILE_OF("adler.txt.z", "x\234K\344J\342\002\000\002t\000\331"),
    FILE_OF("badcrc.txt.gz", "\037\213\010\000\000\000\000\000\002\003K\344J\342\002\000\227+W\030\004\000\000\000"),
    FILE_OF("badhdr.rec",
            "\002\000\000\000\000\000\000\000x'\0134h0\355\242>T\002\000\000\001\000\000\000\000x'\0134h1\232"
            "G?Z\002\000\000\000\000\000\000\000x'\0134h2;e\327\362"),
    FILE_OF("badpay.rec",
            "\002\000\000\000\000\000\000\000x'\0134p0\217\350Kx\002\000\000\000\000\000\000\000x'\0134q18"
            "\004Rv\002\000\000\000\000\000\000\000x'\0134p2\231*\252\326"),
    FILE_OF("bom.txt", "\357\273\277a\nb\n"),
    FILE_OF("c_bad_default.csv", ",b\n"),
    FILE_OF("c_big.csv", "1e39\n1e-50\n1\n"),
    FILE_OF("c_big64.csv", "1e309\n1e-400\n1\n"),
    FILE_OF("c_blank.csv", "1,a\n\n2,b\n"),
    FILE_OF("c_blanks.csv", " 1 ,a\n\t2,b\n"),
    FILE_OF("c_bom.csv", "\357\273\2771,a\n2,b\n"),
    FILE_OF("c_both.csv", "1,2\n"),
    FILE_OF("c_comma.csv", "1,5\n"),
    FILE_OF("c_cr.csv", "1,a\r2,b\r"),
    FILE_OF("c_crlf.csv", "1,a\r\n2,b\r\n"),
    FILE_OF("c_delim2.csv", "1::2\n"),
    FILE_OF("c_delim_quote.csv", "1\"2\n"),
    FILE_OF("c_delim_tab.csv", "1\t2\n"),
    FILE_OF("c_dq.csv", "\"a\"\"b\",c\n"),
    FILE_OF("c_empty.csv", ""),
    FILE_OF("c_ends_in_delim.csv", "a,"),
    FILE_OF("c_excl.csv", "1,2,3\n4,5\n"),
    FILE_OF("c_excl_all.csv", "1,2\n"),
    FILE_OF("c_exp.csv", "3.38e-005\n1e5\n1E+2\n.5\n5.\n"),
    FILE_OF("c_few.csv", "1\n1,2\n1,2,3\n4,5\n"),
    FILE_OF("c_float_int.csv", "1.0\n1\n"),
    FILE_OF("c_header_empty.csv", ""),
    FILE_OF("c_header_nonl.csv", "x,y"),
    FILE_OF("c_header_only.csv", "x,y\n"),
    FILE_OF("c_header_quote.csv", "\"x\ny\",z\n1,2\n"),
    FILE_OF("c_hex.csv", "0x10\n1\n"),
    FILE_OF("c_hexf.csv", "0x1p3\n2\n"),
    FILE_OF("c_i64.csv", "9223372036854775808\n9223372036854775807\n"),
    FILE_OF("c_i64n.csv", "-9223372036854775809\n-9223372036854775808\n"),
    FILE_OF("c_inner.csv", "a\"b,c\nd,e\n"),
    FILE_OF("c_latin.csv", "\351,c\n"),
    FILE_OF("c_lfcr.csv", "1,a\n\r2,b\n\r"),
    FILE_OF("c_multi_crlf.csv", "\"a\r\nb\",c\r\nd,e\r\n"),
    FILE_OF("c_multiline.csv", "\"a\nb\",c\nd,e\n"),
    FILE_OF("c_na.csv", "NA,b\n1,c\n"),
    FILE_OF("c_na_blank.csv", " NA,b\n1,c\n"),
    FILE_OF("c_na_req.csv", "NA,b\n1,c\n"),
    FILE_OF("c_nan.csv", "nan\ninf\n-inf\nNaN\nInfinity\n"),
    FILE_OF("c_no_cols.csv", "1,2\n"),
    FILE_OF("c_nonl.csv", "1,a\n2,b"),
    FILE_OF("c_noquote.csv", "\"a\",b\n"),
    FILE_OF("c_nul.csv", "a\000b,c\nd,e\n"),
    FILE_OF("c_open.csv", "\"a,b\nc,d\n"),
    FILE_OF("c_plus.csv", "+1\n-2\n"),
    FILE_OF("c_quote_empty.csv", "\"\",b\n1,c\n"),
    FILE_OF("c_quote_empty_def.csv", "\"\",b\n1,c\n"),
    FILE_OF("c_quote_na.csv", "\"NA\",b\n"),
    FILE_OF("c_quote_num.csv", "\"1\",\"a\"\n"),
    FILE_OF("c_sel.csv", "1,2,3\n4,5\n6,7,8\n"),
    FILE_OF("c_sel_count.csv", "1,2,3\n"),
    FILE_OF("c_sel_dup.csv", "1,2,3\n"),
    FILE_OF("c_sel_far.csv", "1,2,3\n"),
    FILE_OF("c_sel_neg.csv", "1,2,3\n"),
    FILE_OF("c_semi.csv", "1,5;2\n3;4\n"),
    FILE_OF("c_stray.csv", "\"a\"x,b\nc,d\n"),
    FILE_OF("c_text_num.csv", "abc\n1\n"),
    FILE_OF("c_trail.csv", "1x\n2\n"),
    FILE_OF("c_trail_comma.csv", "1,2,\n3,4\n"),
    FILE_OF("c_two_bad.csv", "x,y\n1,2\n"),
    FILE_OF("c_under.csv", "1_000\n1\n"),
    FILE_OF("c_utf16.csv", "\377\3761\000,\0002\000\n\000"),
    FILE_OF("cr.txt", "a\rb\r"),
    FILE_OF("crlf.txt", "a\r\nb\r\n"),
    FILE_OF("cut.bin.gz",
            "\037\213\010\000\000\000\000\000\002\003c`dbfaec\347\340\344\342\346\341\345\343\027\020\024\022"
            "\026\021\025\023\227\220\224\222\226\221\225\223WPTRVQUS\327\320\324\322\326\321\325\32370426153"
            "\267\260\264\262\266\261\265\263wptrvqus\367\360\364\362\366\361\365\363\017\010\014\n\016\t\r"
            "\013\217\210\214\212\216\211\215\213OHLJNIMK\317\310\314\312\316\311\315\313/(,"
            "*.)-+\257\250\254\252\256\251\255\253ohljnimk\357\350\354\352\356\351\355\353\2370q\322\344)S"
            "\247M\2371s\326\3549s\347\315_\260p\321\342%K\227-_\261r\325\3525k\327\255\337\260q\323\346-["
            "\267m\337\261s\327\356={\367\355?p\360\320\341#G\217\035?q\362\324\3513g\317\235\277p\361\322"
            "\345+W\257]\277q\363\326\355;w\357\335\177\360\360\321\343'O\237=\177\361\362\325\3537o\337\275"
            "\377\360\361\323\347/_\277}\377\361\363\327\357?\177"),
    FILE_OF("cut.txt.gz",
            "\037\213\010\000\000\000\000\000\002\003\313\311\314KU\310\317K\345\312\0011J\312\363\241\214"
            "\214\242T\250\330\250\344\250\344\250\344\250\344\250\344"),
    FILE_OF("cut.txt.z", "x\234\313\311\314KU\310\317K\345\312\0011J\312\363!\214Q\221Q\221Q\021"),
    FILE_OF("eight.bin", "12345678"),
    FILE_OF("empty", ""),
    FILE_OF("good.rec",
            "\002\000\000\000\000\000\000\000x'\0134g0\277a\303F\002\000\000\000\000\000\000\000x'\0134g1\010"
            "}\312D\002\000\000\000\000\000\000\000x'\0134g2i\2372\350"),
    FILE_OF("latin1.txt", "\351\n"),
    FILE_OF("nine.bin", "123456789"),
    FILE_OF("nine.bin.gz", "\037\213\010\000\000\000\000\000\002\0033426153\267\260\004\000&9\364\313\t\000\000\000"),
    FILE_OF("nul.txt", "a\000b\nc\n"),
    FILE_OF("tail.txt.gz",
            "\037\213\010\000\000\000\000\000\002\003K\344J\342\002\000\227*W\030\004\000\000\000garbage!"),
    FILE_OF("tiny.txt.gz", "\037\213\010\000\000\000\000\000\002\003K\344J\342\002\000\227*W\030\004\000\000\000"),
    FILE_OF("trail.gz",
            "\037\213\010\000\000\000\000\000\002\003cb\200\200\nun\223t\203\375\211\207\335\230\220E\0149jO"
            "\271\240\210\030e\3167z\001\000\351np\2756\000\000\000garbage"),
    FILE_OF("trail.z", "x\234cb\200\200\nun\223t\203\375\211\207\335\230\220E\0149jO\271\240\210\030e\3167z\001\000\351"
                       "\245\nGgarbage"),
    FILE_OF("two.txt", "a\nb\n"),
};

static const error_case cases[] = {
    /* text */
    { "[{'op':'text_lines','files':['none.txt','two.txt']}]", "!NOTFOUND; a; b; END",
      "none.txt': No such file or directory", "!NOTFOUND; !NOTFOUND; !NOTFOUND; !NOTFOUND" },
    { "[{'op':'text_lines','files':['none.txt','two.txt']},{'op':'ignore_errors'}]", "a; b; END", NULL, "spins" },
    { "[{'op':'text_lines','files':['two.txt','none.txt','two.txt']}]", "a; b; !NOTFOUND; a; b; END",
      "none.txt': No such file or directory", "a; b; !NOTFOUND; !NOTFOUND; !NOTFOUND; !NOTFOUND" },
    { "[{'op':'text_lines','files':['two.txt','none.txt','two.txt'],'num_parallel_reads':2}]",
      "a; !NOTFOUND; b; a; b; END", "none.txt': No such file or directory",
      "a; !NOTFOUND; b; !NOTFOUND; !NOTFOUND; a; !NOTFOUND" },
    { "[{'op':'text_lines','files':['two.txt','none.txt','two.txt'],'num_parallel_reads':2},"
      "{'op':'ignore_errors'}]",
      "a; b; a; b; END", NULL, "spins" },
    { "[{'op':'text_lines','files':['two.txt'],'num_parallel_reads':-2}]", "build !ARG",
      "num_parallel_reads must be at least 1 or LKS_AUTOTUNE (-1), found -2", NULL },
    { "[{'op':'text_lines','files':['two.txt'],'num_parallel_reads':0}]", "build !ARG",
      "num_parallel_reads must be at least 1 or LKS_AUTOTUNE (-1), found 0", NULL },
    { "[{'op':'text_lines','files':['dir','two.txt']}]", "!IO; a; b; END", "dir': Is a directory",
      "!PRECOND; !PRECOND; !PRECOND; !PRECOND" },
    { "[{'op':'text_lines','files':['two.txt'],'buffer_size':-5}]", "build !ARG",
      "buffer_size must not be negative, found -5", "!INVALID; END" },
    { "[{'op':'text_lines','files':['two.txt'],'buffer_size':0}]", "a; b; END", NULL, NULL },
    { "[{'op':'text_lines','files':[]}]", "END", NULL, NULL },
    { "[{'op':'text_lines','files':['bom.txt']}]", "\357\273\277a; b; END", NULL, NULL },
    { "[{'op':'text_lines','files':['crlf.txt']}]", "a; b; END", NULL, NULL },
    { "[{'op':'text_lines','files':['cr.txt']}]", "ab; END", NULL, NULL },
    { "[{'op':'text_lines','files':['nul.txt']}]", "a\\0b; c; END", NULL, NULL },
    { "[{'op':'text_lines','files':['latin1.txt']}]", "\351; END", NULL, NULL },
    { "[{'op':'text_lines','files':['cut.txt.gz'],'compression_type':'GZIP'}]",
      "line one; line two; line three; line one; line two; line three; line one; line two; line three; "
      "line one; line two; line three; line one; line two",
      NULL, NULL },
    { "[{'op':'text_lines','files':['tail.txt.gz'],'compression_type':'GZIP'}]", "a; b; !FORMAT; END",
      "tail.txt.gz', offset 4: behind the compressed data stand bytes that are no GZIP: something was",
      "a; b; !DATALOSS; !DATALOSS; !DATALOSS; !DATALOSS" },
    { "[{'op':'text_lines','files':['tiny.txt.gz']},{'op':'batch','batch_size':9},{'op':'skip','count':9}]", "END",
      NULL, NULL },
    { "[{'op':'text_lines','files':['empty'],'compression_type':'GZIP'}]", "END", NULL, NULL },
    { "[{'op':'text_lines','files':['badcrc.txt.gz'],'compression_type':'GZIP'}]", "!FORMAT; END",
      "badcrc.txt.gz', offset 0: the GZIP data are damaged: incorrect data check",
      "!DATALOSS; !DATALOSS; !DATALOSS; !DATALOSS" },
    { "[{'op':'text_lines','files':['cut.txt.z'],'compression_type':'ZLIB'}]",
      "line one; line two; line one; line two; line one; line two; line one; line two; line one; "
      "line two; line one; line two; line one; line two",
      NULL, NULL },
    { "[{'op':'text_lines','files':['adler.txt.z'],'compression_type':'ZLIB'}]", "!FORMAT; END",
      "adler.txt.z', offset 0: the ZLIB data are damaged: incorrect data check",
      "!DATALOSS; !DATALOSS; !DATALOSS; !DATALOSS" },
    { "[{'op':'text_lines','files':['loop']}]", "!IO; END", "loop': Too many levels of symbolic links",
      "!UNKNOWN; !UNKNOWN; !UNKNOWN; !UNKNOWN" },
    { "[{'op':'text_lines','files':['two.txt'],'compression_type':'BZIP2'}]", "build !ARG",
      "compression_type must be \"\", \"GZIP\" or \"ZLIB\", found \"BZIP2\"", "!INVALID; END" },
    /* fixed */
    { "[{'op':'fixed_length','files':['empty'],'record_bytes':4}]", "END", NULL, NULL },
    { "[{'op':'fixed_length','files':['eight.bin'],'record_bytes':4,'header_bytes':8}]", "END", NULL, NULL },
    { "[{'op':'fixed_length','files':['eight.bin'],'record_bytes':4,'header_bytes':9}]", "!FORMAT; END",
      "eight.bin' has 8 bytes, fewer than its header of 9 and footer of 0", "!INVALID; !INVALID; !INVALID; !INVALID" },
    { "[{'op':'fixed_length','files':['eight.bin'],'record_bytes':4,'header_bytes':5,'footer_bytes':5}]",
      "!FORMAT; END", "eight.bin' has 8 bytes, fewer than its header of 5 and footer of 5",
      "!INVALID; !INVALID; !INVALID; !INVALID" },
    { "[{'op':'fixed_length','files':['eight.bin','eight.bin'],'record_bytes':3}]", "!FORMAT; !FORMAT; END",
      "eight.bin' has 8 bytes between its header of 0 and footer of 0, no multiple of the record",
      "!INVALID; !INVALID; !INVALID; !INVALID" },
    { "[{'op':'fixed_length','files':['nine.bin','eight.bin'],'record_bytes':4}]", "!FORMAT; 1234; 5678; END",
      "nine.bin' has 9 bytes between its header of 0 and footer of 0, no multiple of the record length",
      "!INVALID; !INVALID; !INVALID; !INVALID" },
    { "[{'op':'fixed_length','files':['nine.bin','eight.bin'],'record_bytes':4,'num_parallel_reads':2}]",
      "!FORMAT; 1234; 5678; END",
      "nine.bin' has 9 bytes between its header of 0 and footer of 0, no multiple of the record length",
      "!INVALID; 1234; !INVALID; 5678; !INVALID; !INVALID" },
    { "[{'op':'fixed_length','files':['eight.bin'],'record_bytes':-4}]", "build !ARG",
      "record_bytes must be at least 1, header and footer at least 0; found -4, 0, 0", "!INVALID; END" },
    { "[{'op':'fixed_length','files':['eight.bin'],'record_bytes':4,'header_bytes':-1}]", "build !ARG",
      "record_bytes must be at least 1, header and footer at least 0; found 4, -1, 0", "!INVALID; END" },
    { "[{'op':'fixed_length','files':['eight.bin'],'record_bytes':4,'footer_bytes':-1}]", "build !ARG",
      "record_bytes must be at least 1, header and footer at least 0; found 4, 0, -1", "!INVALID; END" },
    { "[{'op':'fixed_length','files':['nine.bin.gz'],'record_bytes':4,'compression_type':'GZIP'}]",
      "1234; 5678; !FORMAT; END",
      "nine.bin.gz' has 9 bytes between its header of 0 and footer of 0, no multiple of the record", NULL },
    { "[{'op':'fixed_length','files':['nine.bin.gz'],'record_bytes':4,'footer_bytes':1,"
      "'compression_type':'GZIP'}]",
      "1234; 5678; END", NULL, NULL },
    { "[{'op':'fixed_length','files':['nine.bin.gz'],'record_bytes':4,'header_bytes':12,"
      "'compression_type':'GZIP'}]",
      "!FORMAT; END", "nine.bin.gz' ends after 9 bytes, inside its header of 12", "!INTERNAL; END" },
    { "[{'op':'fixed_length','files':['cut.bin.gz'],'record_bytes':4,'compression_type':'GZIP'}]",
      "\\0\001\002\003; \004\005\006\007; \010\t\n\013; \014\r\016\017; \020\021\022\023; "
      "\024\025\026\027; \030\031\032\033; \034\035\036\037;  !\"#; $%&'; ()*+; ,-./; 0123; 4567",
      NULL, NULL },
    { "[{'op':'fixed_length','files':['dir'],'record_bytes':4}]", "!IO; END", "dir': Is a directory",
      "!PRECOND; !PRECOND; !PRECOND; !PRECOND" },
    /* csv */
    { "[{'op':'csv','files':['c_bom.csv'],'record_defaults':[{'required':'int32'},{'required':'string'}]}]",
      "1 a; 2 b; END", NULL, "!INVALID; 2 b; END" },
    { "[{'op':'csv','files':['c_crlf.csv'],'record_defaults':[{'required':'int32'},{'required':'string'}]}]",
      "1 a; 2 b; END", NULL, NULL },
    { "[{'op':'csv','files':['c_cr.csv'],'record_defaults':[{'required':'int32'},{'required':'string'}]}]",
      "1 a; 2 b; END", NULL, NULL },
    { "[{'op':'csv','files':['c_lfcr.csv'],'record_defaults':[{'required':'int32'},{'required':'string'}]}]",
      "1 a; !ARG; 2 b; !ARG; END", "c_lfcr.csv', line 2, record 1, offset 4: 2 fields are expected, 1 found", NULL },
    { "[{'op':'csv','files':['c_nonl.csv'],'record_defaults':[{'required':'int32'},{'required':'string'}]}]",
      "1 a; 2 b; END", NULL, NULL },
    { "[{'op':'csv','files':['c_blank.csv'],'record_defaults':[{'required':'int32'},{'required':'string'}]}]",
      "1 a; !ARG; 2 b; END", "c_blank.csv', line 2, record 1, offset 4: 2 fields are expected, 1 found", NULL },
    { "[{'op':'csv','files':['c_blanks.csv'],'record_defaults':[{'required':'int32'},{'required':'string'}]}]",
      "1 a; 2 b; END", NULL, NULL },
    { "[{'op':'csv','files':['c_plus.csv'],'record_defaults':[{'required':'int32'}]}]", "1; -2; END", NULL, NULL },
    { "[{'op':'csv','files':['c_hex.csv'],'record_defaults':[{'required':'int32'}]}]", "!ARG; 1; END",
      "c_hex.csv', line 1, record 0, offset 0: column 0 is no int32: '0x10'", NULL },
    { "[{'op':'csv','files':['c_under.csv'],'record_defaults':[{'required':'int32'}]}]", "!ARG; 1; END",
      "c_under.csv', line 1, record 0, offset 0: column 0 is no int32: '1_000'", NULL },
    { "[{'op':'csv','files':['c_float_int.csv'],'record_defaults':[{'required':'int32'}]}]", "!ARG; 1; END",
      "c_float_int.csv', line 1, record 0, offset 0: column 0 is no int32: '1.0'", NULL },
    { "[{'op':'csv','files':['c_i64.csv'],'record_defaults':[{'required':'int64'}]}]", "!ARG; 9223372036854775807; END",
      "c_i64.csv', line 1, record 0, offset 0: column 0 is no int64: '9223372036854775808'", NULL },
    { "[{'op':'csv','files':['c_i64n.csv'],'record_defaults':[{'required':'int64'}]}]",
      "!ARG; -9223372036854775808; END",
      "c_i64n.csv', line 1, record 0, offset 0: column 0 is no int64: '-9223372036854775809'", NULL },
    { "[{'op':'csv','files':['c_nan.csv'],'record_defaults':[{'required':'float32'}]}]",
      "nan; inf; -inf; nan; inf; END", NULL, NULL },
    { "[{'op':'csv','files':['c_big.csv'],'record_defaults':[{'required':'float32'}]}]", "inf; 0; 1; END", NULL, NULL },
    { "[{'op':'csv','files':['c_big64.csv'],'record_defaults':[{'required':'float64'}]}]", "inf; 0; 1; END", NULL,
      NULL },
    { "[{'op':'csv','files':['c_exp.csv'],'record_defaults':[{'required':'float32'}]}]",
      "3.38e-05; 100000; 100; 0.5; 5; END", NULL, NULL },
    { "[{'op':'csv','files':['c_comma.csv'],'record_defaults':[{'required':'float32'}]}]", "!ARG; END",
      "c_comma.csv', line 1, record 0, offset 0: 1 fields are expected, 2 found", NULL },
    { "[{'op':'csv','files':['c_semi.csv'],'record_defaults':[{'required':'float32'},"
      "{'required':'float32'}],'field_delim':';'}]",
      "!ARG; 3 4; END",
      "c_semi.csv', line 1, record 0, offset 0: column 0 is no float32: '1,5' (decimals need a point)", NULL },
    { "[{'op':'csv','files':['c_text_num.csv'],'record_defaults':[{'required':'float32'}]}]", "!ARG; 1; END",
      "c_text_num.csv', line 1, record 0, offset 0: column 0 is no float32: 'abc'", NULL },
    { "[{'op':'csv','files':['c_trail.csv'],'record_defaults':[{'required':'float32'}]}]", "!ARG; 2; END",
      "c_trail.csv', line 1, record 0, offset 0: column 0 is no float32: '1x'", NULL },
    { "[{'op':'csv','files':['c_hexf.csv'],'record_defaults':[{'required':'float32'}]}]", "8; 2; END", NULL, NULL },
    { "[{'op':'csv','files':['c_two_bad.csv'],'record_defaults':[{'required':'int32'},{'required':'int32'}]}]",
      "!ARG; 1 2; END", "c_two_bad.csv', line 1, record 0, offset 0: column 0 is no int32: 'x'", NULL },
    { "[{'op':'csv','files':['c_quote_num.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'string'}]}]",
      "1 a; END", NULL, NULL },
    { "[{'op':'csv','files':['c_quote_empty.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'string'}]}]",
      "!ARG; 1 c; END", "c_quote_empty.csv', line 1, record 0, offset 0: column 0 is required and is empty: give it a",
      NULL },
    { "[{'op':'csv','files':['c_quote_empty_def.csv'],'record_defaults':[{'default':7,'dtype':'int32'},"
      "{'required':'string'}]}]",
      "7 b; 1 c; END", NULL, NULL },
    { "[{'op':'csv','files':['c_na.csv'],'record_defaults':[{'default':7,'dtype':'int32'},"
      "{'required':'string'}],'na_value':'NA'}]",
      "7 b; 1 c; END", NULL, NULL },
    { "[{'op':'csv','files':['c_na_blank.csv'],'record_defaults':[{'default':7,'dtype':'int32'},"
      "{'required':'string'}],'na_value':'NA'}]",
      "!ARG; 1 c; END", "c_na_blank.csv', line 1, record 0, offset 0: column 0 is no int32: ' NA'", NULL },
    { "[{'op':'csv','files':['c_na_req.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'string'}],'na_value':'NA'}]",
      "!ARG; 1 c; END", "c_na_req.csv', line 1, record 0, offset 0: column 0 is required and holds na_value: give it a",
      NULL },
    { "[{'op':'csv','files':['c_quote_na.csv'],'record_defaults':[{'default':7,'dtype':'int32'},"
      "{'required':'string'}],'na_value':'NA'}]",
      "7 b; END", NULL, NULL },
    { "[{'op':'csv','files':['c_noquote.csv'],'record_defaults':[{'required':'string'},"
      "{'required':'string'}],'use_quote_delim':false}]",
      "\"a\" b; END", NULL, NULL },
    { "[{'op':'csv','files':['c_stray.csv'],'record_defaults':[{'required':'string'},{'required':'string'}]}]",
      "!ARG; c d; END", "c_stray.csv', line 1, record 0, offset 0: a quote stands inside a quoted field, it must be",
      "!INVALID; END" },
    { "[{'op':'csv','files':['c_inner.csv'],'record_defaults':[{'required':'string'},{'required':'string'}]}]",
      "!ARG; d e; END", "c_inner.csv', line 1, record 0, offset 0: a quote stands inside a field that does not begin",
      NULL },
    { "[{'op':'csv','files':['c_open.csv'],'record_defaults':[{'required':'string'},{'required':'string'}]}]",
      "!ARG; END", "c_open.csv', line 1, record 0, offset 0: the file ends inside a quoted field", NULL },
    { "[{'op':'csv','files':['c_multiline.csv'],'record_defaults':[{'required':'string'},"
      "{'required':'string'}]}]",
      "a\nb c; d e; END", NULL, NULL },
    { "[{'op':'csv','files':['c_multi_crlf.csv'],'record_defaults':[{'required':'string'},"
      "{'required':'string'}]}]",
      "a\r\nb c; d e; END", NULL, NULL },
    { "[{'op':'csv','files':['c_dq.csv'],'record_defaults':[{'required':'string'},{'required':'string'}]}]",
      "a\"b c; END", NULL, NULL },
    { "[{'op':'csv','files':['c_empty.csv'],'record_defaults':[{'required':'string'},{'required':'string'}]}]", "END",
      NULL, NULL },
    { "[{'op':'csv','files':['c_header_only.csv'],'record_defaults':[{'required':'string'},"
      "{'required':'string'}],'header':true}]",
      "END", NULL, NULL },
    { "[{'op':'csv','files':['c_header_nonl.csv'],'record_defaults':[{'required':'string'},"
      "{'required':'string'}],'header':true}]",
      "END", NULL, NULL },
    { "[{'op':'csv','files':['c_header_empty.csv'],'record_defaults':[{'required':'string'},"
      "{'required':'string'}],'header':true}]",
      "!FORMAT; END", "c_header_empty.csv', record 0, offset 0: the file is empty, a header line was expected", NULL },
    { "[{'op':'csv','files':['c_header_quote.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'header':true}]",
      "1 2; END", NULL, NULL },
    { "[{'op':'csv','files':['c_few.csv'],'record_defaults':[{'required':'int32'},{'required':'int32'}]}]",
      "!ARG; 1 2; !ARG; 4 5; END", "c_few.csv', line 1, record 0, offset 0: 2 fields are expected, 1 found", NULL },
    { "[{'op':'csv','files':['c_trail_comma.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}]}]",
      "!ARG; 3 4; END", "c_trail_comma.csv', line 1, record 0, offset 0: 2 fields are expected, 3 found", NULL },
    { "[{'op':'csv','files':['c_nul.csv'],'record_defaults':[{'required':'string'},{'required':'string'}]}]",
      "a\\0b c; d e; END", NULL, NULL },
    { "[{'op':'csv','files':['c_latin.csv'],'record_defaults':[{'required':'string'},{'required':'string'}]}]",
      "\351 c; END", NULL, NULL },
    { "[{'op':'csv','files':['c_utf16.csv'],'record_defaults':[{'required':'int32'},{'required':'int32'}]}]",
      "!FORMAT; END", "c_utf16.csv', record 0, offset 0: this is no CSV file; it looks like UTF-16: save it as UTF-8",
      "!INVALID; !INVALID; END" },
    { "[{'op':'csv','files':['c_sel.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'select_cols':[0,2]}]",
      "1 3; !ARG; 6 8; END", "c_sel.csv', line 2, record 1, offset 6: at least 3 fields are expected, 2 found", NULL },
    { "[{'op':'csv','files':['c_sel_far.csv'],'record_defaults':[{'required':'int32'}],'select_cols':[9]}]",
      "!ARG; END", "c_sel_far.csv', line 1, record 0, offset 0: at least 10 fields are expected, 3 found", NULL },
    { "[{'op':'csv','files':['c_sel_neg.csv'],'record_defaults':[{'required':'int32'}],'select_cols':[-1]}]",
      "build !ARG", "select_cols must not be negative", NULL },
    { "[{'op':'csv','files':['c_sel_dup.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'select_cols':[1,1]}]",
      "build !ARG", "select_cols must rise strictly", NULL },
    { "[{'op':'csv','files':['c_sel_count.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'select_cols':[1]}]",
      "build !ARG", "select_cols names 1 columns, there are 2 dtypes", NULL },
    { "[{'op':'csv','files':['c_excl.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'exclude_cols':[1]}]",
      "1 3; !ARG; END", "c_excl.csv', line 2, record 1, offset 6: 3 fields are expected, 2 found", NULL },
    { "[{'op':'csv','files':['c_excl_all.csv'],'record_defaults':[{'required':'int32'}],"
      "'exclude_cols':[0,1]}]",
      "!ARG; END", "c_excl_all.csv', line 1, record 0, offset 0: 3 fields are expected, 2 found", NULL },
    { "[{'op':'csv','files':['c_both.csv'],'record_defaults':[{'required':'int32'}],'select_cols':[0],"
      "'exclude_cols':[1]}]",
      "build !ARG", "select_cols and exclude_cols exclude each other", NULL },
    { "[{'op':'csv','files':['c_delim2.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'field_delim':'::'}]",
      "build !ARG", "\"field_delim\" must be one byte, found \"::\"", NULL },
    { "[{'op':'csv','files':['c_delim_tab.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'field_delim':'\\t'}]",
      "1 2; END", NULL, NULL },
    { "[{'op':'csv','files':['c_delim_quote.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'field_delim':'\\''}]",
      "1 2; END", NULL, NULL },
    { "[{'op':'csv','files':['c_no_cols.csv'],'record_defaults':[]}]", "build !ARG", "no column given", NULL },
    { "[{'op':'csv','files':['c_ends_in_delim.csv'],'record_defaults':[{'required':'string'},"
      "{'required':'string'}]}]",
      "!ARG; END", "c_ends_in_delim.csv', line 1, record 0, offset 0: column 1 is required and is empty: give it a",
      NULL },
    { "[{'op':'csv','files':['c_bad_default.csv'],'record_defaults':[{'default':'x','dtype':'string'},"
      "{'required':'string'}]}]",
      "x b; END", NULL, NULL },
    { "[{'op':'csv','files':['c_two_bad.csv','c_quote_num.csv',"
      "'c_few.csv'],'record_defaults':[{'required':'int32'},{'required':'int32'}]}]",
      "!ARG; 1 2; !ARG; !ARG; 1 2; !ARG", "c_two_bad.csv', line 1, record 0, offset 0: column 0 is no int32: 'x'",
      NULL },
    { "[{'op':'csv','files':['none.csv','c_few.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}]}]",
      "!NOTFOUND; !ARG; 1 2; !ARG; 4 5; END", "none.csv': No such file or directory",
      "!NOTFOUND; !NOTFOUND; !NOTFOUND; !NOTFOUND" },
    { "[{'op':'csv','files':['dir'],'record_defaults':[{'required':'int32'}]}]", "!IO; END", "dir': Is a directory",
      "!PRECOND; !PRECOND; !PRECOND; !PRECOND" },
    { "[{'op':'csv','files':['tiny.txt.gz'],'record_defaults':[{'required':'int32'}]}]", "!FORMAT; END",
      "tiny.txt.gz', record 0, offset 0: this is no CSV file; it looks like gzip: read it with", "!INVALID; END" },
    { "[{'op':'csv','files':['c_few.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'compression_type':'LZ4'}]",
      "build !ARG", "compression_type must be \"\", \"GZIP\" or \"ZLIB\", found \"LZ4\"", NULL },
    { "[{'op':'csv','files':['c_few.csv'],'record_defaults':[{'required':'int32'},"
      "{'required':'int32'}],'buffer_size':-1}]",
      "build !ARG", "buffer_size must not be negative, found -1", NULL },
    { "[{'op':'csv','files':['c_dq.csv'],'record_defaults':[{'required':'string'},"
      "{'required':'string'}],'buffer_size':1}]",
      "a\"b c; END", NULL, NULL },
    /* list */
    { "[{'op':'list_files','pattern':'[a','shuffle':false}]", "build !ARG", "[a'", NULL },
    { "[{'op':'list_files','pattern':'two.txt\\\\','shuffle':false}]", "build !ARG", "two.txt\\'", NULL },
    { "[{'op':'list_files','pattern':[],'shuffle':false}]", "build !ARG", "no pattern given", NULL },
    { "[{'op':'list_files','pattern':'nodir/*','shuffle':false}]", "build !ARG", "nodir/*'", NULL },
    /* tfrecord */
    { "[{'op':'tfrecord','files':['none.rec','good.rec']}]", "!NOTFOUND; g0; g1; g2; END",
      "none.rec': No such file or directory", "!NOTFOUND; !NOTFOUND; !NOTFOUND; !NOTFOUND" },
    { "[{'op':'tfrecord','files':['badpay.rec','good.rec']}]", "p0; !FORMAT; g0; g1; g2; END",
      "badpay.rec', record 1, offset 18: the checksum of the record's data is wrong: the file is", NULL },
    { "[{'op':'tfrecord','files':['badpay.rec','good.rec'],'num_parallel_reads':2}]", "p0; g0; !FORMAT; g1; g2; END",
      "badpay.rec', record 1, offset 18: the checksum of the record's data is wrong: the file is", NULL },
    { "[{'op':'tfrecord','files':['badpay.rec','good.rec']},{'op':'ignore_errors'}]", "p0; g0; g1; g2; END", NULL,
      NULL },
    { "[{'op':'tfrecord','files':['good.rec','none.rec'],'num_parallel_reads':2},{'op':'ignore_errors'}]",
      "g0; g1; g2; END", NULL, "spins" },
    { "[{'op':'tfrecord','files':['badpay.rec']},{'op':'skip','count':2}]", "p2; END", NULL, NULL },
    { "[{'op':'tfrecord','files':['badhdr.rec']},{'op':'skip','count':2}]", "!FORMAT; END",
      "badhdr.rec', record 1, offset 18: the checksum of the length is wrong", NULL },
    { "[{'op':'tfrecord','files':['dir']}]", "!IO; END", "dir': Is a directory", NULL },
    { "[{'op':'tfrecord','files':['two.txt']}]", "!FORMAT; END",
      "two.txt', record 0, offset 0: the file ends inside a record's header: it is cut off (was its", "END" },
    { "[{'op':'tfrecord','files':['good.rec'],'num_parallel_reads':0}]", "build !ARG",
      "num_parallel_reads must be at least 1 or LKS_AUTOTUNE (-1), found 0", NULL },
    { "[{'op':'tfrecord','files':['good.rec'],'num_parallel_reads':-3}]", "build !ARG",
      "num_parallel_reads must be at least 1 or LKS_AUTOTUNE (-1), found -3", NULL },
    { "[{'op':'tfrecord','files':['good.rec'],'compression_type':'SNAPPY'}]", "build !ARG",
      "compression_type must be \"\", \"GZIP\" or \"ZLIB\", found \"SNAPPY\"", "!DATALOSS; END" },
    { "[{'op':'tfrecord','files':['trail.z'],'compression_type':'ZLIB'}]", "g0; g1; g2; END", NULL, NULL },
    { "[{'op':'tfrecord','files':['trail.gz'],'compression_type':'GZIP'}]", "g0; g1; g2; !FORMAT; END",
      "trail.gz', offset 54: behind the compressed data stand bytes that are no GZIP: something was", NULL },
};

static int make_files(void **state)
{
    if (make_folder(state) != 0) return -1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) write_file(files[i].name, files[i].bytes, files[i].size);
    return mkdir(path("dir"), 0777) != 0 || symlink("loop", path("loop")) != 0 ? -1 : 0;
}

static void damaged_files_cost_what_they_cost_in_tensorflow(void **state)
{
    (void)state;
    run_cases(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_cost_what_they_cost_in_tensorflow),
    };

    return cmocka_run_group_tests(tests, make_files, remove_folder);
}
