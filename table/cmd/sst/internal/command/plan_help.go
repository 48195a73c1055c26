package command

const planLong = `Plan tables for N keys: compare the filters that they can have, by memory, disk, false
positives and costs, and name the command that builds the best ones. Give either a rate of
false positives or a number of bits per key.

The filters have the names that sst build and sst fpr have for them. "bloom:10" are LevelDB's
filters, one for each 2 KiB of the file, as --bits 10 writes them. The others are filters of whole
tables, as --table-filter writes them: "table-bloom:10" is RocksDB's, and "fuse:12" is a binary
fuse filter with fingerprints of 12 bits. "bloom:10+table-bloom:11" is both. The last ones have no
keys and values: they can only be asked whether a key may be there, see sst build --filter-only.

With -p RATE, each kind of filter has the fewest bits whose predicted and measured rates are both
low enough. With --bits B, it has B bits per key, half of them in each of the filters if there
are both. A kind that cannot reach the rate has as many bits as are of use. All fingerprints of
fuse filters are compared. If tables with --block-size do not fit in --memory, or do not reach the
rate, larger blocks up to 1MiB are tried: they make the index smaller and LevelDB's filters
better, but a lookup reads more.

--sample FILE measures your own keys and values: lines as sst build takes them, in any order, of
--format, or standard input if FILE is -. It is the whole list, or a random part of it, such as by
shuf -n 100000. Without -n, N is the number of its different keys. sst writes tables of it to
memory, compressed as by sst build. Of a file of more than 500,000 keys or 64 MiB it takes 256
stretches of neighbours, and reads it twice for that. How sizes depend on the number of keys
shows in still smaller parts. Sizes are then within 10 %, as measured with lists of 10⁶ and 10⁷
URLs, if a part has 1 % of the keys and 10,000 or more. Of numbers in a row take the whole list.

Without --sample, keys are random ones of --key-size with values of --value-size, and --compression
is the compressed size of a data block as a share of its size. Keys that begin alike, as URLs do,
take less: ≤ is before what is the most. URLs of 64 bytes take a third of that disk. Memory
is mostly less too, but the index can take up to a fifth more.

Rates are measured by 2 to 10 million lookups of absent keys. With a probability of 95 % the rate
is within the ± beside it. Of a sample, half of the keys are in filters, the other half is looked up
between them, and so on with other halves. Otherwise keys are random: others can have higher rates
in LevelDB's and RocksDB's filters, see sst help fpr. Predicted rates are those of packages filter
and fuse. In tables of ≤ 35 keys with both filters the rate can be far higher than predicted.

A table has at most --entries-per-table keys and takes at most --table-size of disk, unless a
single key takes more with its value. By default it takes at most 64MB, and has at most a million
keys if it has keys and values. With --entries-per-table, the default of --table-size is 4GiB.
Tables with a table-bloom filter never have more than a million keys, as more have higher rates,
and those with a fuse filter never more than 10 million. All tables but the last are planned full.

Memory is what open tables use for filters and index. It does not include a block cache, or the
rest of a program. With --memory, the plan says how many machines are needed: "none" has enough if
a single table takes more.

The costs are those of a set of tables in object storage, see package set: of sst build with
lines in order (--sorted) or not; of requests that write; of opening all tables, by one request
each; and of 10⁹ lookups. One request reads the block of a present key, or of a false positive.
Other lookups take none. Blocks are not cached. --present says how many of the lookups are for
present keys. If a rate is only known to be less than a bound, the bound is counted, and a ≤ is
shown. In a swap, filters and indexes of both sets are in memory. A list that is built anew each
day costs building, writing and opening each day. So do layers of --filter-only sets that are to
be folded: that takes a build of all keys.

A core-hour is an hour of one processor's time, computed from times measured on one machine with
2 x86-64 cores and lines of 16 to 128 bytes. How long sorting takes depends on what keys have in
common at their start: without --sample, that is all but 16 bytes of them. A request takes the
client 350 µs, a lookup 1 µs, what is read to open a table 2.5 ns a byte, and a block 1 ns.

--request-price and --put-price are the prices of a million requests that read and that write,
--core-price that of a core-hour, and --storage-price that of a GB (10⁹ bytes) for a month, in one
currency. A price adds up those that are given. Transfers and the machines that answer are left
out. Costs are rounded to three digits. With --json, each kind of filter has all of them.

A plan takes mostly less than 5 seconds, but up to 20 for rates near 0.0001 %, up to 30 with a
sample of millions of keys, and at most 600 MB of memory.

N and --entries-per-table can be written as 10000000, 10_000_000, 10,000,000, 10e6 or 10M, where k,
M, G and T are powers of 1000. RATE can be written as 0.01 or 1%, and a size as 64, 4KiB
(powers of 1024) or 64MB (powers of 1000). Printed sizes use powers of 1000.`

const planExamples = `  # A blacklist of ten billion URLs of 64 bytes, at 0.01 %, in 30 GB of memory.
  sst plan -n 10e9 -p 0.01% --key-size 64 --memory 30GB

  # What a list takes, and ten times as many keys like those of a part of it.
  sst plan --bits 10 --sample urls.txt --format raw-keys
  shuf -n 100000 urls.txt | sst plan -n 100M --bits 10 --sample - --format raw-keys

  # Ten bits per key, data that compresses to half, tables as large as LevelDB's.
  sst plan -n 1M --bits 10 --value-size 100 --compression 0.5 --table-size 2MB

  # A set in object storage, and its prices.
  sst plan -n 10e9 --bits 10 --key-size 64 --entries-per-table 1M --present 0.1 \
    --request-price 0.40 --put-price 5 --core-price 0.05 --storage-price 0.023

  # JSON, for a program.
  sst plan -n 500_000_000 -p 1% --value-size 1000 --json`
