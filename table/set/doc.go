// Package set queries many tables as if they were one. Each table contains a range of the keys: ten
// billion URLs, for example, in ten thousand tables. The tables are in a directory or in object storage.
//
// A [Manifest] lists the tables and their ranges. A [Builder] writes a set or adds a layer to one, and
// [Sweep] removes tables that are no longer needed. A [TableWriter] writes one table and returns its line
// in the manifest. [OpenDir] opens the set in a directory, [OpenFS] a set in an fs.FS such as embed.FS, and
// [Open] a set from any [Source]. For each key, a [Set] searches the one table whose range contains it.
// [Set.Swap] replaces the tables while lookups run.
//
// # Layers
//
// A small change does not require writing the whole set again. A [Layer] of the Manifest contains the
// entries that were added or changed, and the keys that were removed. Its tables are as small as the
// change. A lookup searches the newest layer first. If filters or ranges rule the key out, it goes on to
// the next layer, so each layer costs about one check of a filter. Removals are exact: a false positive of
// their filters costs a read, and never hides a key. When the layers reach about a tenth of the set, write
// the set again without layers.
//
// # Swapping in a new list
//
// During [Set.Swap], tables that both manifests list are in memory once. With OpenAll, the tables of the
// new manifest are opened before the old ones are closed. If all tables are new, that takes twice the
// memory. MemorySize bounds it: Swap closes no table to make room for new ones. A new table that finds no
// room is opened again by its first lookup.
//
// # When a store fails
//
// If a key's table is unavailable, the lookup returns an error, never [table.ErrNotFound]. The next lookup
// tries again. With OnLoss of [Options], Open and Swap go on without such tables. [Set.Unavailable]
// lists them, and [Set.Reopen] opens them again without waiting for a lookup. ReadTimeout ends calls of a
// [Source] that stalls. [Set.TryMayContain] consults only what is in memory.
//
// Opening a table compares its TailSum with the manifest, and [Set.Verify] the SHA-256 of all bytes. If a
// Source returns blocks of another table after the right one was opened, lookups can return wrong values
// whose checksums are right. A [Dir], and a Source of table/cloud with a Pin, detect this and return
// [ErrReplaced].
//
// # Sets of filters
//
// A table may contain only a filter of its keys: see FilterOnly of [table.WriterOptions]. Such tables
// are smaller, and no lookup reads a block. Query them with [Set.MayContain]. False is certain. True is
// wrong at the filters' false-positive rate. If the filter rules a key out, [Set.Get] returns
// [table.ErrNotFound]. For any other key it returns [table.ErrFilterOnly], so a program that treats every
// error as absence would let all listed keys pass. An [Iter] fails with ErrFilterOnly too.
//
// With Mapped in Options.Reader, the filters in a directory are mapped into memory instead of copied.
//
// Every Set can read Bloom filters. Other filters, such as binary fuse filters, need their policy in
// Options.Reader.TableFilterPolicies. Without it, a table that has only such a filter cannot be opened:
// lookups, and Open with OpenAll, return [table.ErrUnknownFilter], even if OnLoss returns true.
package set
