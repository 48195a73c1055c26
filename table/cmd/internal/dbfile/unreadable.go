package dbfile

import (
	"errors"
	"io"
	"syscall"
)

// sectorSize is the size of the smallest part of a file that a disk can fail to read.
const sectorSize = 4096

// A sectorReader passes over sectors that the disk cannot read. For each, it calls unread, and fills in bytes of
// 0xff. Then a checksum does not match, and a log has a record of unknown type. Zeros in a log would look as if
// never written.
type sectorReader struct {
	io.ReaderAt
	unread func(at int64, err error)
}

func (r sectorReader) ReadAt(p []byte, at int64) (n int, err error) {
	n, err = r.ReaderAt.ReadAt(p, at)
	for errors.Is(err, syscall.EIO) {
		r.unread(at+int64(n), err)
		sector := p[n:min(len(p), n+sectorSize-int((at+int64(n))%sectorSize))]
		for i := range sector {
			sector[i] = 0xff
		}
		n += len(sector)
		if n == len(p) {
			return n, nil
		}
		var more int
		more, err = r.ReaderAt.ReadAt(p[n:], at+int64(n))
		n += more
	}
	return n, err
}

// If unread is not nil, pastUnreadable returns a reader that passes over sectors that the disk cannot read.
func pastUnreadable(r io.ReaderAt, path string, unread func(path string, at int64, err error)) io.ReaderAt {
	if unread == nil {
		return r
	}
	return sectorReader{r, func(at int64, err error) { unread(path, at, err) }}
}
