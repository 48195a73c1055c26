// Package set asks many tables as one. Each table has a range of the keys, such as those of ten
// billion URLs in ten thousand tables. They may be in a directory or in object storage.
//
// A [Manifest] lists the tables and their ranges. A [Builder] writes a set, or adds a layer to one,
// and [Sweep] removes the tables that are not needed any more. A [TableWriter] writes a table and
// its line in the manifest. [OpenDir] opens the set of a directory, [OpenFS] that of a fs.FS such as embed.FS,
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
// # A new list
//
// While [Set.Swap] runs, the tables that both manifests have are in memory once. With OpenAll, those that
// only the new one has come on top of them until nothing uses the old ones any more: for a set that
// was written again as a whole, that is twice the memory. With a MemorySize, it is not more than
// that, but for the tables that are being opened: a Swap closes no table to make room for new ones.
// Those that find no room are opened again at their first lookup.
//
// # Stores that fail
//
// A key whose table cannot be asked has no answer: an error that is not [table.ErrNotFound]. The next
// lookup tries again. OnLoss of [Options] lets Open and Swap go on without such tables,
// [Set.Unavailable] lists them, and [Set.Reopen] tries them without a lookup. ReadTimeout ends the
// calls of a [Source] that stalls. [Set.TryMayContain] answers from memory only.
//
// If a Source returns blocks of another table after the right one was opened, lookups can return wrong values
// under right checksums, unless the Source itself notices ([ErrReplaced]), as a [Dir] and a table/cloud Source with
// a Pin do; opening a table compares its TailSum, and [Set.Verify] the SHA-256 of all bytes.
//
// # Sets of filters
//
// A table can have a filter of its keys only: see FilterOnly of [table.WriterOptions]. It takes
// less room, and no lookup reads a block. Query such a set by [Set.MayContain]: false is certain, and
// true is wrong at the filters' rate of false positives. [Set.Get] returns [table.ErrNotFound] for
// a key that the filter rules out, and [table.ErrFilterOnly] for any other: a caller that takes other
// errors for absence would let every listed key pass. An [Iter] fails with ErrFilterOnly too.
//
// With Mapped in Options.Reader, the filters of a directory's tables are mapped and not copied into
// memory.
//
// Every Set can read Bloom filters. Others, such as binary fuse filters, need their policy in
// Options.Reader.TableFilterPolicies. Without it, a table that has only such a filter cannot be opened:
// with OpenAll, Open fails with [table.ErrUnknownFilter], also if OnLoss goes on without
// tables. Otherwise each lookup does.
package set
