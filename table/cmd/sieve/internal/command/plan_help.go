package command

const planLong = `Compare the filters of tables of N keys by memory, disk and false positives, and name the command
that builds the best. With -p, each filter has the fewest bits whose predicted and measured rates
are low enough; with --bits, it has that many. If tables do not fit in --memory, or miss the rate,
larger blocks are tried. Memory is that of open tables' filters and index.

--sample measures your own lines, all or a random part (shuf -n 100000): sizes are then within 10
%. Otherwise keys are random. Rates are measured with 2 to 10 million lookups, ± at 95 %.
See sst help filters and formats.`

const planExamples = `  sieve plan -n 10e9 -p 0.01% --key-size 64 --memory 30GB
  shuf -n 100000 urls.txt | sieve plan -n 100M --bits 10 --sample - --input-format raw-keys
  sieve plan -n 10e9 --bits 10 --entries-per-table 1M --json`
