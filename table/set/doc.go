// Package set asks many tables as one. Each table has a range of the keys, such as those of ten
// billion URLs in ten thousand tables. They may be in a directory or in object storage.
//
// A [Manifest] lists the tables and their ranges. A [TableWriter] writes a table and its line in
// the manifest. [OpenDir] opens the set of a directory, [OpenFS] that of a fs.FS such as embed.FS,
// and [Open] that of any [Source]. A [Set] looks a key up in the one table whose range has it, so
// that a lookup costs what it costs in one table. [Set.Swap] replaces the tables while lookups run.
//
// # Layers
//
// A set that changes a little each day need not be written again. A [Layer] of the Manifest has the
// entries that were added or have another value, and the keys that were removed: its tables are as
// small as the change. A lookup asks the newest layer first, and goes on to the next one if filters or
// ranges say that a layer does not have the key. So each layer costs a lookup what a filter costs.
// Removals are asked exactly: a false positive of their filters costs a read, and never hides a key.
// Write the set again, without layers, when they have come to some tenth of it.
//
// # Sets of filters
//
// A table can have a filter of its keys only: see FilterOnly of [table.WriterOptions]. It takes
// less room, and no lookup reads a block. [Set.MayContain] asks such tables: false is certain, and
// true is wrong at the filters' rate of false positives. [Set.Get] returns [table.ErrNotFound] for
// a key that the filter rules out, and [table.ErrFilterOnly] for any other. An [Iter] fails with
// that too.
//
// With Mapped in Options.Reader, the filters of a directory's tables are mapped and not copied into
// memory.
//
// Every Set can read Bloom filters. For others, such as binary fuse filters, Open needs the policy
// in Options.Reader.TableFilterPolicies, and fails without it.
package set
