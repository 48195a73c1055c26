// Package setio builds sets of tables ([set.Set]) with Apache Beam. [Write] takes keys with values, [WriteKeys] takes
// keys, and [WriteLines] the lines of files. The same program runs on one machine (Prism) and on clusters (Flink,
// Spark, Dataflow).
//
//	import _ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism" // the runner for beam.Run
//
//	beam.Init() // after flag.Parse; on a worker, this does not return
//	p, s := beam.NewPipelineWithRoot()
//	keys := textio.Read(s, "/data/urls/*.txt") // or any other PCollection of string or []byte
//	if _, err := setio.WriteKeys(s, "/mnt/shared/blocklist", keys, setio.Options{}); err != nil { ... }
//	if _, err := beam.Run(ctx, "prism", p); err != nil { ... }
//
// # Failures
//
// Every step can run twice: the same entries and Options produce the same tables, names and manifest. The manifest is
// written last, and only if no file, piece or table is missing: some runners continue after a worker has failed.
// After a failed build, run it again. Its tables stay until [Sweep] removes them.
//
// # Directories
//
// Input files and the set may be in the operating system's file system, or in any that Beam supports and the program
// imports, such as beam/io/filesystem/gcs for gs:// and beam/io/filesystem/s3 for s3://. Outside of the operating
// system's, Beam parses names. Names of input files must not contain ? # %, and the directory's name * ? [ \ # %.
//
//   - Operating system: tables and the manifest appear complete and synced. While the manifest is replaced, a lock,
//     set.jsonl.lock, excludes other builds, Sweep and the command sst.
//   - Object stores (gs:// and s3://): tables and the manifest appear complete. If an object with a table's name and
//     size exists, the table is not sent again. There is no lock: if two layers are built at once, one can be lost.
//     Package table/cloud reads the set.
//   - Other file systems: as with object stores if they can rename files. Otherwise readers may find an incomplete
//     manifest, which they report as an error. The next build replaces incomplete tables.
//
// # Leases
//
// From its first table to its manifest, a build holds a lease: a file sievetable-*.lease in the directory. Meanwhile
// Sweep and "sst sweep" refuse to remove anything. The lease of a failed or killed build expires 24 hours after its
// last table was begun, or when you delete the file.
//
// # Counters
//
// Beam shows these counters in the namespace setio. A step that runs twice may count twice.
//
//   - keys_read: elements or lines, including duplicates and Removals
//   - keys_written: entries in all tables, including removals
//   - tables_written: tables
//   - tables_found: tables that already existed with the same bytes
//   - bytes_written: the sizes of tables_written
//
// # Implementation
//
// Sorted blocks of keys travel between workers, not single keys, since each Beam element takes some microseconds.
//
//  1. Workers sort the elements of each bundle, or the lines of each file, in runs of [Options].RunSize bytes. They
//     emit each run as compressed pieces, and a sample of its keys. A key's hash decides whether it is sampled, so that
//     samples do not depend on bundles.
//  2. One worker computes the tables' key ranges from all samples.
//  3. Workers merge the pieces of a bundle and cut them at the ranges' limits.
//  4. For each table, a worker merges its pieces and writes it. Its name is its number and its SHA-256.
//  5. When all tables exist, one worker writes the manifest.
package setio
