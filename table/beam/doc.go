// Package setio builds sets of tables from files of lines with Apache Beam. Each line is a key. It
// writes range-partitioned tables and their manifest, as package
// [github.com/sievetable/sievetable/table/set] reads them. Beam runs the same program on one
// machine (Prism) and on clusters (Flink, Spark, Dataflow).
//
//	p, s := beam.NewPipelineWithRoot()
//	files := beam.CreateList(s, names)
//	if _, err := setio.Write(s, "/mnt/shared/blacklist", files, setio.Options{}); err != nil { … }
//	if _, err := beam.Run(ctx, "prism", p); err != nil { … }
//
// # How it works
//
// Blocks of sorted keys travel between workers, not keys: an element of Beam costs some
// microseconds, whatever its size.
//
//  1. A worker for each file reads it and samples its keys. The samples of all files say where
//     to split the keys, so that each table gets about as many. The same keys are sampled in
//     each run.
//  2. A worker for each file reads it again and sorts it in runs of [Options].RunSize in memory.
//     It cuts each run at the splits into pieces.
//  3. The pieces are grouped by table. A worker for each table merges them and writes the table
//     under a temporary name. Then it renames it to the table's number and SHA-256.
//  4. When all tables are there, one worker writes the manifest.
//
// # Failures
//
// Every step can run twice: the same files and Options make the same bytes under the same names.
// The manifest appears only when all tables are complete and on disk. It is not written if a file
// or a piece is missing, since a runner may go on when a worker has failed. No build removes a
// table: those of a build that has failed, that was killed, or whose manifest was replaced stay in
// the directory until [Sweep] removes them.
package setio
