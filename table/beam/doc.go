// Package setio builds sets of tables with Apache Beam: range-partitioned tables and their manifest, as
// package [github.com/sievetable/sievetable/table/set] reads them. [Write] takes pairs of keys and
// values, [WriteKeys] takes keys, and [WriteLines] the lines of files. Beam runs the same program on one
// machine (Prism) and on clusters (Flink, Spark, Dataflow).
//
//	import _ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism" // what beam.Run names
//
//	beam.Init() // after flag.Parse; on a worker, this does not return
//	p, s := beam.NewPipelineWithRoot()
//	keys := textio.Read(s, "/data/urls/*.txt") // or any other PCollection of string or []byte
//	if _, err := setio.WriteKeys(s, "/mnt/shared/blacklist", keys, setio.Options{}); err != nil { … }
//	if _, err := beam.Run(ctx, "prism", p); err != nil { … }
//
// # How it works
//
// Blocks of sorted keys travel between workers, not keys: an element of Beam that travels costs some
// microseconds, whatever its size.
//
//  1. The worker that makes the elements sorts those of a bundle, in runs of [Options].RunSize in memory.
//     It emits each run as pieces, which are compressed blocks, and a sample of its keys. For WriteLines,
//     a worker for each file reads and sorts its lines.
//  2. The samples of all runs say where to split the keys, so that each table gets about as many. The
//     hash of a key says whether it is sampled: it is the same keys in each run of the pipeline, whatever
//     the bundles are.
//  3. The pieces go to all workers. A worker merges those of a bundle, and cuts them at the splits.
//  4. What it has cut is grouped by table. A worker for each table merges it and writes the table. Its
//     name is its number and its SHA-256.
//  5. When all tables are there, one worker writes the manifest.
//
// # Failures
//
// Every step can run twice: the same entries and Options make the same bytes under the same names. The
// manifest appears only when all tables are complete and stored. It is not written if a file, a piece or
// a table is missing, since a runner may go on when a worker has failed. No build removes a table: those
// of a build that has failed, that was killed, or whose manifest was replaced stay in the directory until
// [Sweep] removes them.
//
// # Directories
//
// Files of lines and the directory of the set can be of the operating system, or of any file system that
// Beam has and the program imports, such as beam/io/filesystem/gcs for gs:// and beam/io/filesystem/s3
// for s3://.
//
//   - In a directory of the operating system, a file has a temporary name until it is complete and on
//     disk, and new tables have the permissions of the manifest that is there. A lock, set.jsonl.lock,
//     is held while the manifest is replaced, so that of several builds of layers none is lost, and
//     Sweep removes no table of a manifest that is being written. sst has the same lock.
//   - In object stores (gs:// and s3://), a table is written to the worker's disk, and then sent as one
//     object under its name. One that is there with the same name and size is not sent again. The
//     manifest is one object too: readers find the old or the new one. There is no lock: build one layer
//     at a time, or one of them can be lost. Builds without Layer can run at once, as in a directory.
//     Package table/cloud reads such sets.
//   - In other file systems, a file has a temporary name until it is complete, if they can rename. If
//     not, a worker that is killed can leave a part of a table, which the next build replaces, and
//     readers can find a part of the manifest, which is an error for them.
//
// # Leases
//
// Builds do not disturb each other, but Sweep would remove what no manifest lists yet. So a build has a
// lease in the directory from its first table to its manifest: the file sievetable-….lease. Sweep and
// sst sweep refuse while there is one. A build that fails or is killed leaves its lease. It ends 24 hours after the last
// table was written.
//
// # Counters
//
// These counters of Beam have the namespace setio:
//
//   - keys_read: elements or lines, with those that repeat, and Removals
//   - keys_written: entries of all tables, and removals
//   - tables_written: tables
//   - tables_found: tables that were there with the same bytes, as when a build is done again
//   - bytes_written: the sizes of tables_written
//
// A step that a runner does twice may count twice.
package setio
