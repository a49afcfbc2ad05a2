/* topics.h - the golden topics; included twice by main.c. No include guard, and so meant. */
TOPIC(data)
TOPIC(math)
TOPIC(runs)
TOPIC(files)
TOPIC(distribute)
