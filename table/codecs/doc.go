// Package codecs implements compressions of other engines' tables as [table.Codec] values:
//
//	codec    id  written by
//	Zstd     2   C++ LevelDB after 1.23, with kZstdCompression
//	Zlib     2   Minecraft Bedrock's LevelDB, in older worlds
//	Deflate  4   Minecraft Bedrock's LevelDB: zlib's format without header and checksum
//
// Snappy, id 1, is part of package table. To read tables of any of these engines, use all codecs; to write, choose
// one:
//
//	r, err := table.Open(name, &table.ReaderOptions{Codecs: codecs.All()})
//	w, err := table.Create(name, &table.WriterOptions{Compression: codecs.Zstd})
//
// Engines without a compression report its blocks as corrupt. goleveldb and C++ LevelDB up to 1.23 know only Snappy,
// and their RecoverFile and RepairDB silently drop tables in another compression. Zstd and zlib share an id, but
// differ in a block's first bytes: see [IsZstd].
//
// Levels are the encoders' defaults: about 3 for zstd, and 6 for zlib and deflate. The same versions of this module
// and of Go encode a block to the same bytes.
//
// # Untrusted blocks
//
// Whatever bytes a block has, Decode returns at most limit bytes or an error, and never panics.
//
//   - Memory is allocated for decoded bytes, not for the size that a block claims: at most three times as much for up
//     to 16 MiB. Larger blocks are decoded twice, the first time to count their bytes. Zstd also needs the frame's
//     window, at most 8 MiB.
//   - A zstd frame with a larger window is an error. C++ LevelDB writes them only for blocks above 8 MiB, with a
//     zstd_compression_level of 20 or more.
//   - A block that decodes to more than limit bytes is a [TooLargeError]. To find its size, Decode decodes and
//     discards the rest, up to 1 GiB, which takes time but no memory.
//   - Bytes after the compressed data are an error, except further zstd frames, which Decode decodes too.
package codecs
