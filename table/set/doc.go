// Package set queries many tables as if they were one. Ten billion URLs do not fit in one table, or on one disk: a
// set spreads them over ten thousand tables, each with a range of the keys, in a directory or in object storage.
//
//	s, err := set.OpenDir(ctx, "urls", nil)
//	if err != nil { ... }
//	defer s.Close()
//	value, err := s.Get(ctx, key) // table.ErrNotFound if the key is absent
//
// [OpenDir] opens the set in a directory, [OpenFS] one in an fs.FS, and [Open] one from any [Source]. [Set.Get] and
// [Set.GetMany] look up keys, [Set.MayContain] consults only filters, and [Set.NewIter] iterates over the entries.
//
// # Manifest
//
// A [Manifest] lists the tables and their key ranges. A lookup searches only the table whose range contains the key.
// Opening a table compares its TailSum with the manifest, and [Set.Verify] the SHA-256 of all bytes.
//
// A [Layer] of the manifest is a change: added and removed entries, in small tables of their own. Lookups search the
// newest layer first, and each table of a layer costs about one check of a filter. When the layers reach about a tenth
// of the set, write a new set from the entries that it shows.
//
// # Unavailable tables
//
// If a key's table is unavailable, the lookup returns an error, never [table.ErrNotFound], and the next lookup tries
// again. [Set.Unavailable] lists such tables, and [Set.Reopen] opens them again. To learn about them early, set
// OpenAll of [Options]. To continue without them, set OnLoss. If the store can stall, set ReadTimeout.
//
// # Memory and filters
//
// To limit memory, set Reader.Mapped, FilterMemory or MemorySize of [Options]. For filters other than Bloom filters,
// set Reader.TableFilterPolicies.
//
// A table may contain only a filter: see FilterOnly of [table.WriterOptions]. Query such a set with [Set.MayContain].
// [Set.Get] returns [table.ErrFilterOnly] for keys that the filter does not rule out. A program that treats every
// error as absence would let all of them pass.
//
// # Publishing
//
// A [Builder] writes a set to a [Store], or adds a layer to one. Then [Set.Swap] replaces the manifest while lookups
// run, [Set.Drain] waits until the old tables are unused, and [Sweep] removes them. To build on many machines, see
// Part of [BuilderOptions], [Sampler] and [Publish]. To write tables without a Builder, see [TableWriter] and
// [PublishManifest].
package set
