package codecs

// Name returns the name of a compression, as far as the compression id tells.
func Name(id byte) string {
	switch id {
	case 0:
		return "none"
	case 1:
		return "snappy"
	case 2:
		return "zstd or zlib"
	case 4:
		return "deflate"
	}
	return "unknown"
}
