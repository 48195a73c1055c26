package files

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
)

// Packed recognizes a compressed file or an archive by its start, unless that may be text. next says what to do with
// it; FILE stands for its path.
func Packed(start []byte) (what, next string) {
	program, has := "", func(magic string) bool { return bytes.HasPrefix(start, []byte(magic)) }
	switch {
	case has("PK\x03\x04"):
		return "a zip archive", "extract it first: unzip FILE"
	case isTar(start):
		return "a tar archive", "extract it first: tar -xf FILE"
	case has("\x1f\x8b\x08") && len(start) > 3 && start[3] < 1<<5: // no reserved flags are set
		program = "gzip"
	case has("\x28\xb5\x2f\xfd"):
		program = "zstd"
	case has("\xfd7zXZ\x00"):
		program = "xz"
	case has("BZh") && len(start) > 4 && bytes.HasPrefix(start[4:], []byte("1AY&SY")):
		program = "bzip2"
	default:
		return "", ""
	}
	return "compressed with " + program, "decompress it first: " + program + " -dc FILE > OUT"
}

// isTar reports whether a file starts with a valid header of a tar archive. The header has a checksum.
func isTar(start []byte) bool {
	const blockLen = 512
	_, err := tar.NewReader(bytes.NewReader(start)).Next()
	return len(start) >= blockLen && start[0] != 0 && err != io.EOF && !errors.Is(err, tar.ErrHeader)
}
