package codecs

// Name is what a compression id is called, as far as the id tells.
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
