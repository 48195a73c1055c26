package leveldb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// Lookups is a process with an open table, and keys of equal length. All keys are present, or all absent.
type Lookups struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// OpenLookups opens a table with a block cache, and fills the cache. If cacheBytes is 0, there is no cache, and
// blocks are checked each time they are read.
func (t *Tool) OpenLookups(file string, bitsPerKey, cacheBytes int, keys [][]byte, present bool) (*Lookups, error) {
	args := []string{"lookups", file, strconv.Itoa(bitsPerKey), strconv.Itoa(cacheBytes), oneIf(present)}
	l := &Lookups{command: exec.Command(t.path, args...)}
	l.command.Stderr = os.Stderr
	in, err := l.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := l.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.in, l.out = in, bufio.NewReader(out)
	if err := l.command.Start(); err != nil {
		return nil, err
	}
	all := u32s(len(keys), len(keys[0]))
	for _, k := range keys {
		all = append(all, k...)
	}
	_, err = in.Write(all)
	return l, err
}

func u32s(a, b int) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(a)), uint32(b))
}

// Get looks up the keys with indexes i, from ≤ i < to.
func (l *Lookups) Get(from, to int) error {
	if _, err := l.in.Write(u32s(from, to)); err != nil {
		return err
	}
	if line, err := l.out.ReadString('\n'); err != nil {
		return fmt.Errorf("leveldb: lookups print %q: %w", line, err)
	}
	return nil
}

// Close ends the process.
func (l *Lookups) Close() error { return errors.Join(l.in.Close(), l.command.Wait()) }
