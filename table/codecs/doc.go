// Package codecs has compressions of blocks that tables of other engines can have, as
// [table.Codec] values:
//
//	codec    id  written by
//	Zstd     2   C++ LevelDB after 1.23, with kZstdCompression
//	Zlib     2   Minecraft Bedrock's LevelDB, in older worlds
//	Deflate  4   Minecraft Bedrock's LevelDB; it is zlib's format without header and checksum
//
// Snappy, id 1, is a part of package table. A program that reads tables of any of these engines
// takes all codecs, and one that writes tables chooses one:
//
//	r, err := table.Open(name, &table.ReaderOptions{Codecs: codecs.All()})
//	w, err := table.Create(name, &table.WriterOptions{Compression: codecs.Zstd})
//
// Engines that do not know a compression report its blocks as damaged: goleveldb, and C++ LevelDB
// up to 1.23, know Snappy only, and their RecoverFile and RepairDB drop such tables without a word.
// The id is not enough to tell zstd from zlib, but the first bytes of a block are: see [IsZstd].
//
// The package is a module of its own, so that only programs that import it depend on
// github.com/klauspost/compress, for zstd.
//
// # Encoding
//
// The levels are the defaults of the encoders: about zstd's level 3, and 6 of zlib and deflate. A
// block is encoded to the same bytes each time, by the same version of this module and of Go. Encoders
// and decoders are kept for the next block, since making one takes longer than most blocks do.
//
// # Trust
//
// Blocks can come from anywhere. Whatever their bytes are, Decode returns at most limit bytes, or an
// error, and does not panic.
//
//   - Memory is allocated for what has been decoded, not for a size that the block claims: at most
//     three times as much while a block has <= 16 MiB. A larger one is decoded twice, first to
//     count its bytes. Zstd also takes the window of the frame, of <= 8 MiB.
//   - A zstd frame with a larger window is an error. C++ LevelDB writes those only of blocks > 8 MiB,
//     with a zstd_compression_level >= 20.
//   - A block that decodes to more than limit bytes is a [TooLargeError]. Its size is found by
//     decoding the rest, of up to 1 GiB, into nothing. That takes time, and no memory.
//   - Bytes behind the end of a compressed block are an error.
package codecs
