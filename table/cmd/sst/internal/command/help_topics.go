package command

import "github.com/sievetable/sievetable/table/cmd/internal/cli"

// topics are the sst help texts for subjects that several commands share.
var topics = cli.Commands{
	"sources":     cli.Topic("sources", "What sst reads: tables, logs, databases and sets", sourcesHelp),
	"formats":     cli.Topic("formats", "The formats of lines, keys, numbers and sizes", formatsHelp),
	"sets":        cli.Topic("sets", "Sets of tables and their layers", setsHelp),
	"filters":     cli.Topic("filters", "Block filters, table filters and filters alone", filtersHelp),
	"tables":      cli.Topic("tables", "More settings of tables", tablesHelp),
	"damage":      cli.Topic("damage", "What sst repair keeps, loses and is certain of", damageHelp),
	"exit-status": cli.Topic("exit-status", "What the exit statuses mean", exitMeanings.String()),
}

const sourcesHelp = `A SOURCE is a table (.ldb, .sst), a write-ahead log (.log), a database's directory, a set, or a
directory of tables.

Databases    sst reads the tables and logs that the MANIFEST lists, and shows the newest version of
             each key. It ignores an unfinished record at the end of a log, which a crash leaves.
             Another process may use the database.
Sets         A directory with a manifest set.jsonl, or a manifest of another name beside its tables.
             Newer layers hide older ones. If the manifest is corrupt, only --all-tables reads the
             set, and removed keys come back.
Directories  All tables and logs. If keys have no sequence numbers, the last table wins, in the
             order 9.ldb, 10.ldb, a10.ldb, a9.ldb.
Damage       sst passes over corrupt blocks, missing tables and damaged parts of logs. It names what
             is lost, and exits with status 3. Older or deleted versions of lost keys may appear.

  --internal-keys auto|yes|no  keys end in 8 bytes of sequence number and kind, as in a database's
                               tables; auto detects it by the keys and filters
  --comparator ORDER           auto (as the MANIFEST says, else bytewise), bytewise, reverse or
                               idb_cmp1
  --all-tables                 also read tables and logs that the manifest does not list
  --no-log                     ignore a database's logs: writes that are in no table yet
  --strict                     scan, diff, stats: stop at the first damage; get: no older versions

For a lone table, sst first checks the key order in some blocks, unless --comparator gives one. In
an unknown order, sst can scan, but not look up keys.`

const formatsHelp = `Lines. build and get read these formats (--input-format). scan prints tsv, json and hex, and get
also raw (--format):

  tsv       key, tab, value, with escapes such as \t, \n, \\ and \xff
  json      objects with key or key_base64, and value or value_base64
  hex       like tsv, in hexadecimal; a tab must end keys without values
  raw       like tsv, without escapes; get prints the value's bytes alone
  keys      one key per line, with escapes
  raw-keys  one key per line; each byte before the newline is part of the key

.txt files are raw-keys, .json, .jsonl and .ndjson are json, and other input is tsv, unless you pass
--input-format. get --keys-from takes lines without values too. With internal keys, build and scan
have two more columns or fields: the sequence number, and the kind, set or delete. A UTF-8 byte
order mark is skipped with a note, unless you pass --input-format raw or raw-keys.

Keys       KEY has the escapes of tsv, so a backslash is \\, unless you pass --input-format.
Numbers    10000000, 10_000_000, 10,000,000, 10e6 or 10M (k, M, G and T are powers of 1000).
Sizes      65536, 64KiB (powers of 1024) or 64kB (powers of 1000).
Rates      0.01 or 1%.
Messages   Keys are in quotes, with the same escapes.`

const setsHelp = `A set is a directory of tables with no keys in common and a manifest, set.jsonl. Programs query it
as one table, by package table/set.

  sst build --set -o urls --on-duplicate first urls.txt    make a set of lines
  sst build --layer-of urls --delete gone.txt new.txt      add a layer
  sst merge --set --force urls -o urls                     fold layers
  sst sweep urls                                           list files that can be removed

Tables have at most --entries-per-table entries. The manifest is written last, so it never lists a
missing table. With --force, a build replaces the manifest and keeps older tables.

A layer has pairs that are new or changed, and keys that are removed. Several builds may add layers
at once. Each layer adds its false positives, which cost reads, so its tables have --table-filter
table-bloom:10 by default. A set with --filter-only answers "may be present": it takes layers of
keys, but no --delete, and cannot be folded.

Several machines can build a set from sorted input. Each table's line for the manifest comes from
--manifest-line, and sst manifest joins the lines:

  set -o pipefail
  LC_ALL=C sort -u urls.txt | split -d -a 5 -l 1000000 \
    --filter='sst build --sorted --input-format raw-keys --manifest-line $FILE.json -o $FILE.ldb' \
    - part-
  sst manifest --entries "$(LC_ALL=C sort -u urls.txt | wc -l)" -o set.jsonl part-*.json`

const filtersHelp = `Block filters (--bits) are LevelDB's Bloom filters, one for each 2 KiB of the file. Table filters
(--table-filter) cover the whole table, and LevelDB and goleveldb ignore them:

  table-bloom:BITS  RocksDB's Bloom filter of BITS per key, 10 by default
  fuse:BITS         a binary fuse filter of 4, 8, 10, 12, 14 or 16 BITS, 12 by default, for at most
                    10 million keys; building takes up to 32 bytes of memory per key
  paged:BITS        a paged Bloom filter of 1 to 64 BITS per key, 14 by default, for sets larger
                    than memory

  --filter-name NAME      list the block filters under NAME alone, not under both engines' names.
                          With leveldb.BuiltinBloomFilter, uncompressed tables equal goleveldb's,
                          byte for byte. With leveldb.BuiltinBloomFilter2, they equal C++ LevelDB's
  --filter-prefix PREFIX  filters also contain each key's prefix, delimiter:TEXT (up to the first
                          TEXT) or length:BYTES; sst scan --prefix then skips most absent prefixes
  --filter-base-lg N      a block filter covers 2^N bytes of the file (default 11)
  --filter-only           write a table filter alone, fuse:12 by default; repeated keys count once;
                          sst get answers "may be present" or "absent"; name it .filter, since
                          LevelDB would see an empty table
  --filter-keys N         size a table-bloom filter for N keys, even if the table has fewer: sst
                          merge can unite filters of equal BITS and N
  --never FILE            keys in FILE, such as an allowlist, are never false positives: sst stores
                          the ones that would be, 1 of 4096 for fuse:12

sieve plan compares filters, and sst stats measures one.`

const tablesHelp = `How sst build, merge, convert and repair write tables:

  --restart-interval N  a restart point, where the key is stored whole, every N entries (default 16)
  --properties          write RocksDB's properties block, which Pebble and RocksDB read
  --concurrency N       compress blocks in N goroutines (default: one per CPU)
  --memory SIZE         memory limit for sorting and buffers, at least 32MiB (default 1GiB)
  --temp-dir DIR        write temporary files to DIR`

const damageHelp = `sst repair DIR writes a new database with the newest readable version of each key from the tables
and logs that the MANIFEST lists. If the MANIFEST is damaged, sst reads all tables that it does not
mark obsolete, and if it is lost, all tables. Deleted keys may then come back.

Older or deleted versions of lost keys may appear: sst counts such pairs, and --certain leaves them
out. If the MANIFEST is damaged, no pair is certain. Otherwise these pairs are certain:

  - pairs in a log, beginning at most 32 KiB after its last lost write
  - pairs in tables, if all logs were read whole, and the key is in no lost range of the same level,
    or of a level with a lower number, which is newer

Even a certain pair can be outdated: LevelDB up to 1.20 could put newer pairs into higher levels,
and sst may not notice that the newest log is lost, cut or zeroed. Keys out of order are kept,
sorted, but not certain. Keys are lost if their newest entry is of an unknown kind.

sst repair FILE writes a table. Without a readable index it finds blocks by their checksums, and
needs a --memory of four times the file. Of equal keys it keeps the first in the file, or all if the
key order is unknown. From a log it keeps the newest write of each key. Deletions are kept too,
unless --internal-keys is no. Do not put the table into a database, whose MANIFEST has the old size:
repair the database. If a set is damaged, build it again, or merge its sound tables.`
