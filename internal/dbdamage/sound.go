package dbdamage

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// An SST runs the sst command.
type SST func(args ...string) (status int, stdout, stderr string)

type version struct {
	sequence uint64
	deleted  bool
	value    string // in hexadecimal
	file     string
	at, end  int64 // offsets of the data block, or of the batch in a log
}

// A Sound is the contents of a database before it is damaged.
type Sound struct {
	dir   string
	sst   SST
	keys  map[string][]version // by user key, the newest first
	index map[string]int64     // offset of the index of each table; only the footer follows
}

// Read reads a sound database.
func Read(sst SST, dir string) (*Sound, error) {
	s := &Sound{dir, sst, map[string][]version{}, map[string]int64{}}
	status, out, stderr := sst("scan", "--where", "-f", "hex", dir)
	if status != 0 {
		return nil, fmt.Errorf("status %d: %s", status, stderr)
	}
	ends := map[string]map[int64]int64{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // key, sequence, kind, value, file, level, offset, state
		if len(f) != 8 {
			return nil, fmt.Errorf("line %q has %d columns, want 8", line, len(f))
		}
		if ends[f[4]] == nil {
			var err error
			if ends[f[4]], err = s.readEnds(f[4]); err != nil {
				return nil, err
			}
		}
		v := version{deleted: f[2] == "delete", value: f[3], file: f[4]}
		v.sequence, _ = strconv.ParseUint(f[1], 10, 64)
		v.at, _ = strconv.ParseInt(f[6], 10, 64)
		v.end = ends[f[4]][v.at]
		key, err := hex.DecodeString(f[0])
		if err != nil || v.end == 0 {
			return nil, fmt.Errorf("line %q: %v, or nothing begins in the file at that offset", line, err)
		}
		s.keys[string(key)] = append(s.keys[string(key)], v)
	}
	return s, nil
}

// readEnds returns the ends of the blocks of a table, or of the batches of a log, by their offsets.
func (s *Sound) readEnds(file string) (map[int64]int64, error) {
	ends := map[int64]int64{}
	status, out, stderr := s.sst("layout", "--json", filepath.Join(s.dir, file))
	if status != 0 {
		return nil, fmt.Errorf("layout %s: status %d: %s", file, status, stderr)
	}
	last := int64(-1)
	for line := range strings.Lines(out) {
		var p struct {
			Offset, Bytes int64
			Kind          string
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return nil, err
		}
		if p.Kind == "batch" && last >= 0 {
			ends[last] = p.Offset
		}
		switch last = p.Offset; p.Kind {
		case "data":
			ends[p.Offset] = p.Offset + p.Bytes + 5
		case "index":
			s.index[file] = p.Offset
		case "batch": // an upper limit until another batch follows: Bytes is without headers of fragments
			ends[p.Offset] = p.Offset + p.Bytes + 7*(1+p.Bytes/(32<<10)+1)
		}
	}
	return ends, nil
}

// current returns the value of a key as of a sequence number.
func (s *Sound) current(key string, sequence uint64) (value string, ok bool) {
	for _, v := range s.keys[key] {
		if v.sequence <= sequence {
			return v.value, !v.deleted
		}
	}
	return "", false
}

// isLost reports whether the damage overlaps a version: its data block or the index of its table, or its batch in a
// log.
func (s *Sound) isLost(v version, d Damage) bool {
	return v.file == d.File && (d.Overlaps(v.at, v.end) || !d.isLog() && d.Overlaps(s.index[v.file], math.MaxInt64))
}
