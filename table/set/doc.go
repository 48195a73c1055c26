// Package set asks many tables as one: tables that each have a range of the keys, such as those
// of ten billion URLs in ten thousand tables. They may be in a directory or in object storage.
//
// A [Manifest] lists the tables and their ranges. A [TableWriter] writes a table and its line in
// the manifest. [OpenDir] opens the set of a directory, and [Open] that of any [Source]. A [Set]
// looks a key up in the one table whose range has it, so that a lookup costs what it costs in one
// table. [Set.Swap] replaces the tables while lookups run.
package set
