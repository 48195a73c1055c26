package codecs

import "github.com/sievetable/sievetable/table"

// Name returns the name of a compression, as far as the compression id tells.
func Name(id byte) string {
	switch id {
	case table.NoCompression.ID():
		return "none"
	case table.Snappy.ID():
		return "snappy"
	case Zstd.ID(): // and Zlib.ID()
		return "zstd or zlib"
	case Deflate.ID():
		return "deflate"
	}
	return "unknown"
}
