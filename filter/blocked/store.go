package blocked

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/alloc"
)

const (
	magic     = "SieveBlk"
	version   = 1
	headerLen = 28 // with its checksum, which is in the last 4 bytes
	sumLen    = 4

	// chunkLines is the number of lines that are written or read at a time.
	chunkLines = 1024
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Size returns the length in bytes of the stored filter.
func (f *Filter) Size() int64 { return int64(storedSize(uint64(len(f.lines)))) }

func storedSize(lines uint64) uint64 { return headerLen + lineSize*lines + sumLen }

// WriteTo writes the filter to w, for [Read]. It contains all keys whose Add returned before the call, and may
// contain keys that are added during the call. WriteTo takes 64 KiB of memory.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	var written int64
	write := func(b []byte) error {
		n, err := writeBytes(w, b)
		written += n
		return err
	}
	buffer := f.appendHeader(make([]byte, 0, chunkLines*lineSize))
	if err := write(buffer); err != nil {
		return written, err
	}
	var sum uint32
	for lines := range slices.Chunk(f.lines, chunkLines) {
		buffer = appendLines(buffer[:0], lines)
		sum = crc32.Update(sum, castagnoli, buffer)
		if err := write(buffer); err != nil {
			return written, err
		}
	}
	err := write(binary.LittleEndian.AppendUint32(buffer[:0], sum))
	return written, err
}

func writeBytes(w io.Writer, b []byte) (int64, error) {
	n, err := w.Write(b)
	if err != nil {
		err = fmt.Errorf("blocked: writing a filter: %w", err)
	}
	return int64(n), err
}

func (f *Filter) appendHeader(b []byte) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(2*f.probes))
	return appendSum(binary.LittleEndian.AppendUint64(b, uint64(len(f.lines))))
}

func appendLines(b []byte, lines []line) []byte {
	for i := range lines {
		for j := range lines[i] {
			b = binary.LittleEndian.AppendUint64(b, atomic.LoadUint64(&lines[i][j]))
		}
	}
	return b
}

// Bytes returns the bytes that WriteTo writes, for [Open].
func (f *Filter) Bytes() []byte {
	b := bytes.NewBuffer(make([]byte, 0, f.Size()))
	f.WriteTo(b) // a Buffer returns no error
	return b.Bytes()
}

// Open returns a filter that resumes from a copy of the result of [Filter.Bytes]. If contents is corrupt or too
// long, Open returns an error.
func Open(contents []byte) (*Filter, error) {
	r := bytes.NewReader(contents)
	f, err := Read(r)
	if err != nil {
		return nil, err
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("blocked: %d bytes after a filter of %d bytes", r.Len(), f.Size())
	}
	return f, nil
}

// Read returns a filter that resumes from the output of [Filter.WriteTo], and reads no further. If the bytes are
// corrupt or memory is not available, Read returns an error. Before that, it allocates at most 256 KiB and 10 times
// the bytes read.
func Read(r io.Reader) (*Filter, error) { return read(r, make([]byte, chunkLines*lineSize)) }

// read is Read with a buffer for chunkLines.
func read(r io.Reader, buffer []byte) (*Filter, error) {
	header := buffer[:headerLen]
	if err := readSummed(r, header, magic, "header"); err != nil {
		return nil, err
	}
	n, probes, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	lines, err := readLines(r, n, buffer)
	if err != nil {
		return nil, err
	}
	return &Filter{lines: lines, probes: probes}, nil
}

// readSummed fills b with a part that begins with that magic word and ends with its checksum.
func readSummed(r io.Reader, b []byte, magic, part string) error {
	if _, err := io.ReadFull(r, b); err != nil {
		return readError(part, err)
	}
	if got := string(b[:len(magic)]); got != magic {
		return fmt.Errorf("blocked: another kind of file: it begins with %q, not with %q", got, magic)
	}
	fields := len(b) - sumLen
	return checkSum(part, crc32.Checksum(b[:fields], castagnoli), b[fields:])
}

// appendSum appends the checksum of b.
func appendSum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// parseHeader returns the header's numbers.
func parseHeader(header []byte) (lines uint64, probes int, err error) {
	if v := binary.LittleEndian.Uint32(header[8:]); v != version {
		return 0, 0, fmt.Errorf("blocked: filter of version %d, not %d: update this package", v, version)
	}
	k, lines := binary.LittleEndian.Uint32(header[12:]), binary.LittleEndian.Uint64(header[16:])
	if k < 2 || k > 2*maxProbes || k%2 != 0 {
		return 0, 0, fmt.Errorf("blocked: filter with k = %d: must be an even number from 2 to %d", k, 2*maxProbes)
	}
	if lines < 1 {
		return 0, 0, errors.New("blocked: filter of 0 lines (minimum 1)")
	}
	return lines, int(k / 2), checkLines(lines)
}

// readLines reads n lines and their checksum. The memory grows with what has been read.
func readLines(r io.Reader, n uint64, buffer []byte) ([]line, error) {
	var lines []line
	var sum uint32
	for uint64(len(lines)) < n {
		if len(lines) == cap(lines) {
			more := min(n, max(8*uint64(len(lines)), chunkLines))
			if err := alloc.Check(more * lineSize); err != nil {
				return nil, fmt.Errorf("blocked: filter of %d lines of %d bytes %w", n, lineSize, err)
			}
			lines = append(make([]line, 0, more), lines...)
		}
		start := len(lines)
		lines = lines[:min(cap(lines), start+chunkLines)]
		b := buffer[:(len(lines)-start)*lineSize]
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, readError("lines", err)
		}
		sum = crc32.Update(sum, castagnoli, b)
		for i := range lines[start:] {
			for j := range lines[start+i] {
				lines[start+i][j] = binary.LittleEndian.Uint64(b[i*lineSize+8*j:])
			}
		}
	}
	stored := buffer[:sumLen]
	if _, err := io.ReadFull(r, stored); err != nil {
		return nil, readError("checksum", err)
	}
	return lines, checkSum("lines", sum, stored)
}

// checkSum returns an error if the sum of a part is not the stored one.
func checkSum(part string, sum uint32, stored []byte) error {
	if want := binary.LittleEndian.Uint32(stored); sum != want {
		return fmt.Errorf("blocked: corrupt filter %s: checksum mismatch: stored 0x%08x, computed 0x%08x", part, want, sum)
	}
	return nil
}

func readError(part string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("blocked: filter ends in its %s: %w", part, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("blocked: reading a filter: %w", err)
}
